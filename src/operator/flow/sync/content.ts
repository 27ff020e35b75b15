import { isDeepStrictEqual } from 'node:util';
import type { UnreadableNode } from '../../../api/node-configs-http.ts';
import type { Plan } from '../../../plan/plan.ts';
import type { TermMemory } from '../../model/memory/config-memory.ts';
import { Slot } from '../../model/memory/slot.ts';
import { generationOf } from '../../model/openstack-config.ts';
import type { DeliveredContext } from './delivery.ts';

/** Stands for the content of a full sync: two syncs with the same object show and record the same nodes. */
export interface SyncContent {
  /** Identity only: the plan cache keeps a plan alive while its input stays equal. */
  readonly plan: WeakRef<Plan>;
  /** The input of the plan lacks unreadable objects. */
  readonly unreadable: readonly UnreadableNode[];
  /** Generation of the OpenstackConfig: the inventory stores a hash of its spec. */
  readonly generation: number;
}

const lastContent = new Slot<TermMemory, SyncContent | undefined>(() => undefined);

/**
 * Returns the content of a full sync: the last sync's content if nothing changed since. The plan cache returns the same
 * plan only for an equal input, with the statuses and times of all node configs and all data of the cloud. After such a
 * plan no node may have been sent or read again.
 */
export function contentOf(context: DeliveredContext): SyncContent {
  const { object, memory, observed, planned } = context;
  const [{ unreadable }, generation] = [observed, generationOf(object)];
  const last = lastContent.of(memory.term);
  const isSame =
    last?.plan.deref() === planned.plan &&
    last.generation === generation &&
    isDeepStrictEqual(last.unreadable, unreadable) &&
    isUntouched(context);
  if (isSame) return last;
  const content = { plan: new WeakRef(planned.plan), unreadable, generation };
  lastContent.set(memory.term, content);
  return content;
}

/** Returns whether the delivery neither sent a node nor read a node again. */
function isUntouched({ planned, rounds }: DeliveredContext): boolean {
  const { accepted, removed, stale, waiting, failures } = rounds.delivery;
  const counts = [accepted, removed, stale, waiting, failures].map(({ length }) => length);
  return rounds.held === planned.input.held && Math.max(...counts) === 0;
}
