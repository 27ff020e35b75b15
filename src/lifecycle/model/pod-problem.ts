import type { Pod } from '../../kube/core-resources.ts';

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

const unpulled = new Set(['ImagePullBackOff', 'ErrImagePull', 'InvalidImageName']);
const unstarted = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

/** Returns why a Pod cannot start, in text that is stable across attempts; undefined: no known obstacle. */
export function whyNotRunning(pod: Pod): string | undefined {
  const { metadata, status = {} } = pod;
  if (metadata.deletionTimestamp !== undefined) return undefined;
  const why = whyNotStarted(pod);
  if (why !== undefined) return why;
  const unscheduled = status.conditions?.find(
    ({ type, status: is, reason }) =>
      type === 'PodScheduled' && is === 'False' && reason === 'Unschedulable',
  );
  return unscheduled && `Pod ${metadata.name}: Unschedulable: ${unscheduled.message ?? ''}`;
}

/** Returns why a scheduled Pod's container cannot start or restart. */
export function whyNotStarted({ metadata, status = {} }: Pod): string | undefined {
  const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  for (const container of statuses) {
    const why = whyWaiting(container);
    if (why) return `Pod ${metadata.name}, container ${container.name}: ${why}`;
  }
  return undefined;
}

function whyWaiting({ state, lastState, image }: ContainerStatus): string | undefined {
  const { reason = '', message = '' } = state?.waiting ?? {};
  // The kubelet alternates between two reasons, and its messages contain elapsed seconds.
  if (unpulled.has(reason)) return `ImagePullBackOff: image "${image}" cannot be pulled`;
  if (unstarted.has(reason)) return `${reason}: ${firstLine(message)}`;
  return reason === 'CrashLoopBackOff' ? `CrashLoopBackOff${lastMessage(lastState)}` : undefined;
}

/** Returns exit code and termination message; the waiting message contains elapsed seconds. */
function lastMessage(lastState: ContainerStatus['lastState']): string {
  const ended = lastState?.terminated;
  if (!ended) return '';
  const line = firstLine(ended.message ?? '');
  return line === '' ? `: exit code ${ended.exitCode}` : `: exit code ${ended.exitCode}: ${line}`;
}

function firstLine(text: string): string {
  const [line = ''] = text.trim().split('\n');
  return line.slice(0, 300);
}
