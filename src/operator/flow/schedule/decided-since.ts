import type { TermMemory } from '../../model/memory/config-memory.ts';
import { Slot } from '../../model/memory/slot.ts';

/** Start time (monotonic ms) for the last sync with a decision about all nodes; undefined: none in this term. */
export const decidedSinceMs = new Slot<TermMemory, number | undefined>(() => undefined);
