import type { Node } from '../../kube/core-resources.ts';
import { isReady } from '../objects/machine.ts';
import type { Failure, Run } from './runner.ts';

/** Time a run may be pending before the controller checks it for missing parts. */
const checkPendingMs = 15_000;

/** Returns why no agent can start on the node; undefined if ready or unknown. */
export function unreachable(node: Node): Failure | undefined {
  if (isReady(node) !== false) return undefined;
  const message = `node ${node.metadata.name} is not ready; the agent starts when it is`;
  return { reason: 'NodeNotReady', message };
}

export type Health =
  | { readonly kind: 'fine' }
  /** `slow`: the run should have started; verify its ConfigMap and suspension now and again in `forMs`. */
  | { readonly kind: 'slow' | 'young'; readonly forMs: number }
  | { readonly kind: 'late'; readonly failure: Failure };

/**
 * Returns the run's health by its record's age. Times are from this controller's clock: a node's clock may be hours
 * off.
 */
export function healthOf(
  run: Run,
  { startDeadlineMs, recordAgeMs }: Readonly<Record<'startDeadlineMs' | 'recordAgeMs', number>>,
): Health {
  if (run.phase !== 'pending') return { kind: 'fine' };
  if (recordAgeMs >= startDeadlineMs)
    return { kind: 'late', failure: run.trouble ?? notStarted(run, recordAgeMs) };
  const forMs = Math.min(checkPendingMs, startDeadlineMs - recordAgeMs);
  return { kind: recordAgeMs < checkPendingMs ? 'young' : 'slow', forMs };
}

function notStarted({ node, name, awaits = 'kubelet' }: Run, age: number): Failure {
  const seconds = Math.round(age / 1000);
  const begun = `the agent of Job ${name} has not started on node ${node} within ${seconds} s`;
  const messages = {
    pod: `Job ${name} has no Pod after ${seconds} s; see its events: quota, admission, or a missing ServiceAccount or PriorityClass`,
    kubelet: `${begun}; check whether its kubelet is running`,
    container: `the agent of Job ${name} has not started within ${seconds} s; see the events of its Pod on node ${node}: mounts, image, container runtime`,
  };
  return { reason: 'NotStarted', message: messages[awaits] };
}
