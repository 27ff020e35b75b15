import type { Node } from '../kube/core-resources.ts';
import { type Applied } from './applied.ts';
import { isReady } from './machine.ts';
import type { Failure, Run } from './runner.ts';

/** How long a run may be pending before somebody looks whether it lacks something. */
export const checkPendingMs = 15_000;

/** Why no agent can begin on the node now; undefined when one can, or when nobody knows. */
export function unreachable(node: Node): Failure | undefined {
  if (isReady(node) !== false) return undefined;
  const message = `node ${node.metadata.name} is not ready; no agent is sent before it is`;
  return { reason: 'NodeNotReady', message };
}

/**
 * Whether a run takes a place of those that may be at work at once: one that is being ended does not, and none on a node
 * that does not answer. Either may last for ever, and neither is work for the cluster.
 */
export function holdsPlace(run: Run, node: Node | undefined): boolean {
  return run.phase !== 'ending' && (node === undefined || isReady(node) !== false);
}

export type Health =
  | { readonly kind: 'fine' }
  /** It should have begun by now: look whether something was taken away from it, and again in `forMs`. */
  | { readonly kind: 'slow' | 'young'; readonly forMs: number }
  | { readonly kind: 'late'; readonly failure: Failure };

/** How a run stands that was begun so long ago. Times are this controller's: a node's clock may be hours off. */
export function healthOf(
  run: Run,
  applied: Applied | undefined,
  { startDeadlineMs, recordAgeMs }: Readonly<Record<'startDeadlineMs' | 'recordAgeMs', number>>,
): Health {
  if (run.phase !== 'pending' || applied?.job !== run.name) return { kind: 'fine' };
  if (recordAgeMs >= startDeadlineMs)
    return { kind: 'late', failure: run.trouble ?? notStarted(run, recordAgeMs) };
  const forMs = Math.min(checkPendingMs, startDeadlineMs - recordAgeMs);
  return { kind: recordAgeMs < checkPendingMs ? 'young' : 'slow', forMs };
}

function notStarted({ node, name }: Run, age: number): Failure {
  const seconds = Math.round(age / 1000);
  const message = `the agent of ${name} has not begun on node ${node} within ${seconds} s; is its kubelet at work?`;
  return { reason: 'NotStarted', message };
}
