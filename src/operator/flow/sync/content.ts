import { isDeepStrictEqual } from 'node:util';
import type { TermMemory } from '../../model/memory/config-memory.ts';
import { Slot } from '../../model/memory/slot.ts';
import { generationOf } from '../../model/openstack-config.ts';
import type { SyncContent } from '../../model/sync-content.ts';
import type { DeliveredContext } from './delivery.ts';

const lastContent = new Slot<TermMemory, SyncContent | undefined>(() => undefined);

/**
 * Returns a full sync's content: the last sync's content if nothing changed since. The plan cache returns the same plan
 * only for an equal input, including all node config statuses and times, and all cloud data. In addition, the delivery
 * must not have sent or read any node.
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
