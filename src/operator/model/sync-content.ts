import type { UnreadableNode } from '../../api/node-configs-http.ts';
import type { Plan } from '../../plan/plan.ts';

/**
 * Content of a full sync: two syncs with the same object show, count and record the same nodes. Owner for values made
 * once per content.
 */
export interface SyncContent {
  /** Identity only: the plan cache keeps a plan alive while the input stays equal. */
  readonly plan: WeakRef<Plan>;
  /** Unreadable objects are missing in the plan's input. */
  readonly unreadable: readonly UnreadableNode[];
  /** The OpenstackConfig's generation: the inventory stores a spec hash. */
  readonly generation: number;
}
