import type { UnreadableNode } from '../../api/node-configs-http.ts';
import type { Plan } from '../../plan/plan.ts';

/**
 * Stands for the content of a full sync: two syncs with the same object show, count and record the same nodes. Owner of the
 * values that are made once per content.
 */
export interface SyncContent {
  /** Identity only: the plan cache keeps a plan alive while its input stays equal. */
  readonly plan: WeakRef<Plan>;
  /** The input of the plan lacks unreadable objects. */
  readonly unreadable: readonly UnreadableNode[];
  /** Generation of the OpenstackConfig: the inventory stores a hash of its spec. */
  readonly generation: number;
}
