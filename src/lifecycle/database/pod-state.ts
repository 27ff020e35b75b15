import * as z from 'zod';
import { managedObjects } from '../../api/names.ts';
import type { Pod } from '../../kube/core-resources.ts';
import type { Observed } from '../stage.ts';
import { databasePodName, prepareContainer } from './names.ts';

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

type Terminated = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>;

export function databasePod({ pods, namespace }: Observed): Pod | undefined {
  return pods.find(
    ({ metadata }) => metadata.namespace === namespace && metadata.name === databasePodName,
  );
}

export function isReady(pod: Pod | undefined): boolean {
  const { conditions = [] } = pod?.status ?? {};
  const ready = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  return ready && pod?.metadata.deletionTimestamp === undefined;
}

/** Returns the init container's failure message; undefined: no failure. */
export function refusalText(pod: Pod | undefined): string | undefined {
  const prepare = prepareStatus(pod);
  // Use lastState during a retry too, otherwise the phase would alternate.
  const ended = prepare?.state?.terminated ?? prepare?.lastState?.terminated;
  return ended && ended.exitCode !== 0 ? lastMessage(ended) : undefined;
}

function lastMessage({ message, exitCode }: Terminated): string {
  return message?.trim() || `the init container exited with status ${exitCode}`;
}

const waitsForFix = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

/** Returns reason and message of a container that cannot start, for example due to a missing image. */
export function startFailure(pod: Pod | undefined): string | undefined {
  const { initContainerStatuses = [], containerStatuses = [] } = pod?.status ?? {};
  const all: readonly ContainerStatus[] = [...initContainerStatuses, ...containerStatuses];
  const waiting = all
    .map(({ state }) => state?.waiting)
    .find((one) => one !== undefined && waitsForFix.has(one.reason ?? ''));
  return waiting && [waiting.reason, waiting.message].filter(Boolean).join(': ');
}

/** Returns the last exit of a server in CrashLoopBackOff; undefined: not crashing. */
export function crashText(pod: Pod | undefined): string | undefined {
  const all = pod?.status?.containerStatuses ?? [];
  const container = all.find(({ name }) => name === managedObjects.database);
  if (container?.state?.waiting?.reason !== 'CrashLoopBackOff') return undefined;
  const ended = container.lastState?.terminated;
  if (!ended) return 'mariadbd crashes repeatedly';
  return `mariadbd exited with status ${ended.exitCode} (${ended.reason}) and restarts`;
}

/** True if this Pod never opened the data: its image is missing, or its init container refused the volume. */
export function leftDataUntouched(pod: Pod | undefined): boolean {
  const prepare = prepareStatus(pod);
  if (prepare?.state?.terminated?.exitCode === 0) return false;
  return refusalText(pod) !== undefined || startFailure(pod) !== undefined;
}

const prepared = z.object({ version: z.string() });

/** Returns the server version reported by the init container. */
export function serverVersion(pod: Pod | undefined): string | undefined {
  const ended = prepareStatus(pod)?.state?.terminated;
  if (ended?.exitCode !== 0) return undefined;
  try {
    return prepared.safeParse(JSON.parse(ended.message ?? '')).data?.version;
  } catch {
    return undefined;
  }
}

function prepareStatus(pod: Pod | undefined): ContainerStatus | undefined {
  return pod?.status?.initContainerStatuses?.find(({ name }) => name === prepareContainer);
}
