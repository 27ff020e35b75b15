import type { Pod } from '../../src/kube/core-resources.ts';

export type PodStatus = NonNullable<Pod['status']>;
type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];

/** Bytes of a termination message that a kubelet keeps. */
const maxMessageBytes = 4096;

/** How a container ended. */
export interface End {
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
  readonly startedAt: string;
  readonly finishedAt: string;
}

/** What every status of one Pod has in common. */
export interface StatusBase {
  readonly pod: Pod;
  readonly hostIp: string | undefined;
  /** RFC 3339, when the kubelet took the Pod. */
  readonly startTime: string;
}

/** Taken by the kubelet, container not running yet. */
export function waiting(base: StatusBase, reason: string, message?: string): PodStatus {
  const state = { waiting: { reason, ...(message === undefined ? {} : { message }) } };
  return { ...common(base, 'Pending', false), containerStatuses: [container(base, state)] };
}

export function running(base: StatusBase, startedAt: string): PodStatus {
  const state = { running: { startedAt } };
  return { ...common(base, 'Running', true), containerStatuses: [container(base, state)] };
}

/** Succeeded or Failed by the exit code; `podReason` when it was not the container's doing. */
export function ended(base: StatusBase, end: End, podReason?: PodReason): PodStatus {
  const phase = end.exitCode === 0 && !podReason ? 'Succeeded' : 'Failed';
  const { message, ...rest } = end;
  const said = message === '' ? {} : { message: shortened(message) };
  const terminated = { ...rest, ...said, containerID: `process://${base.pod.metadata.uid}` };
  const containerStatuses = [container(base, { terminated })];
  return { ...common(base, phase, false), ...podReason, containerStatuses };
}

/** Why the kubelet ended a Pod, in the Pod's own `reason` and `message`. */
export interface PodReason {
  readonly reason: string;
  readonly message: string;
}

/** Ended by the kubelet before its container said anything. */
export function refused(base: StatusBase, why: PodReason): PodStatus {
  return { ...common(base, 'Failed', false), ...why };
}

function common({ hostIp, startTime }: StatusBase, phase: string, ready: boolean): PodStatus {
  const status = ready ? 'True' : 'False';
  const addresses = hostIp === undefined ? {} : { hostIP: hostIp, podIP: hostIp };
  const conditions = ['Initialized', 'ContainersReady', 'Ready'].map((type) => ({
    type,
    status: type === 'Initialized' ? 'True' : status,
  }));
  return { phase, startTime, ...addresses, conditions };
}

function container(
  { pod }: StatusBase,
  state: NonNullable<ContainerStatus['state']>,
): ContainerStatus {
  const { name = '', image = '' } = pod.spec?.containers[0] ?? {};
  const isRunning = 'running' in state;
  return {
    name,
    image,
    imageID: image,
    ready: isRunning,
    started: isRunning,
    restartCount: 0,
    state,
  };
}

function shortened(message: string): string {
  return Buffer.from(message).subarray(0, maxMessageBytes).toString();
}
