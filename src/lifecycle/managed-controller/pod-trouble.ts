import type { Pod } from '../../kube/core-resources.ts';

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

const unpulled = new Set(['ImagePullBackOff', 'ErrImagePull', 'InvalidImageName']);
const unstarted = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

/** Why a Pod cannot start, in words that stay the same from one attempt to the next; undefined: it can, as far as it is known. */
export function whyNotRunning(pod: Pod): string | undefined {
  const { metadata, status = {} } = pod;
  if (metadata.deletionTimestamp !== undefined) return undefined;
  const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  for (const container of statuses) {
    const why = whyWaiting(container);
    if (why) return `Pod ${metadata.name}, container ${container.name}: ${why}`;
  }
  const unscheduled = status.conditions?.find(
    ({ type, status: is, reason }) =>
      type === 'PodScheduled' && is === 'False' && reason === 'Unschedulable',
  );
  return unscheduled && `Pod ${metadata.name}: Unschedulable: ${unscheduled.message ?? ''}`;
}

function whyWaiting({ state, lastState, image }: ContainerStatus): string | undefined {
  const { reason = '', message = '' } = state?.waiting ?? {};
  // The kubelet alternates between two reasons, and counts seconds in their messages.
  if (unpulled.has(reason)) return `ImagePullBackOff: image "${image}" cannot be pulled`;
  if (unstarted.has(reason)) return `${reason}: ${firstLine(message)}`;
  return reason === 'CrashLoopBackOff' ? `CrashLoopBackOff${lastWords(lastState)}` : undefined;
}

/** Exit code and termination message: the message of the waiting state counts seconds. */
function lastWords(lastState: ContainerStatus['lastState']): string {
  const ended = lastState?.terminated;
  if (!ended) return '';
  const line = firstLine(ended.message ?? '');
  return line === '' ? `: exit code ${ended.exitCode}` : `: exit code ${ended.exitCode}: ${line}`;
}

function firstLine(text: string): string {
  const [line = ''] = text.trim().split('\n');
  return line.slice(0, 300);
}
