import type { Pod } from '../../kube/core-resources.ts';
import type { Failure } from '../runner.ts';
import { agentState } from './agent-state.ts';

/** Words of the kubelet for an image that does not come. */
const pullReasons: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);

/** Words for a container that cannot be made, for example because a host folder is missing. */
const createReasons: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

/** Why a Pod whose agent has not begun does not begin; undefined while it is simply on its way. */
export function troubleOf(pod: Pod): Failure | undefined {
  return containerTrouble(pod) ?? schedulingTrouble(pod);
}

function containerTrouble(pod: Pod): Failure | undefined {
  const agent = agentState(pod);
  if (agent.kind !== 'waiting') return undefined;
  const message = `${agent.reason}: ${agent.message || 'no message'}`;
  if (pullReasons.has(agent.reason)) return { reason: 'ImagePullFailed', message };
  return createReasons.has(agent.reason) ? { reason: 'JobFailed', message } : undefined;
}

function schedulingTrouble({ status }: Pod): Failure | undefined {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status !== 'False' || scheduled.reason !== 'Unschedulable') return undefined;
  return { reason: 'Unschedulable', message: scheduled.message ?? 'no message' };
}
