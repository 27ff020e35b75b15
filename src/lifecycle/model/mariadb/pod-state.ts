import * as z from 'zod';
import { jsonIn } from '../../../api/json.ts';
import { managedObjects } from '../../../api/names.ts';
import type { Pod } from '../../../kube/core-resources.ts';
import { whyNotStarted } from '../pod-problem.ts';
import type { Observed } from '../stage.ts';
import { databasePodName, prepareContainer } from './names.ts';
import { refusals } from './prepare-statuses.ts';

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

/** Returns the last exit of a server in CrashLoopBackOff; undefined: not crashing. */
export function crashText(pod: Pod | undefined): string | undefined {
  const all = pod?.status?.containerStatuses ?? [];
  const container = all.find(({ name }) => name === managedObjects.database);
  if (container?.state?.waiting?.reason !== 'CrashLoopBackOff') return undefined;
  const ended = container.lastState?.terminated;
  if (!ended) return 'mariadbd crashes repeatedly';
  return `mariadbd exited with status ${ended.exitCode} (${ended.reason}) and restarts`;
}

/** Init container exit statuses without any change to the data. */
const untouched: ReadonlySet<number> = new Set([
  refusals.newerData,
  refusals.foreignFiles,
  refusals.openRefused,
  refusals.missingPrograms,
]);

/** True if this Pod never opened the data: its image is missing, or its init container refused the volume. */
export function leftDataUntouched(pod: Pod | undefined): boolean {
  const prepare = prepareStatus(pod);
  const ended = prepare?.state?.terminated ?? prepare?.lastState?.terminated;
  if (ended) return untouched.has(ended.exitCode);
  return pod !== undefined && whyNotStarted(pod) !== undefined;
}

const prepared = z.object({ version: z.string(), installedAt: z.iso.datetime().optional() });

/** Returns the server version reported by the init container. */
export function serverVersion(pod: Pod | undefined): string | undefined {
  return preparedBy(pod)?.version;
}

/** Returns when the data on the volume was installed; undefined: by an earlier release, or not reported yet. */
export function installedAt(pod: Pod | undefined): string | undefined {
  return preparedBy(pod)?.installedAt;
}

function preparedBy(pod: Pod | undefined): z.infer<typeof prepared> | undefined {
  const ended = prepareStatus(pod)?.state?.terminated;
  return ended?.exitCode === 0 ? prepared.safeParse(jsonIn(ended.message ?? '')).data : undefined;
}

function prepareStatus(pod: Pod | undefined): ContainerStatus | undefined {
  return pod?.status?.initContainerStatuses?.find(({ name }) => name === prepareContainer);
}
