import type { TermMemory } from '../../model/memory/config-memory.ts';
import { Slot } from '../../model/memory/slot.ts';

/** Next time in the trigger schedule; undefined: not calculated yet. */
export const nextScheduledAt = new Slot<TermMemory, Date | undefined>(() => undefined);

/** Next sync; undefined: unknown, or only a trigger starts a sync. */
export const nextSyncAt = new Slot<TermMemory, Date | undefined>(() => undefined);
