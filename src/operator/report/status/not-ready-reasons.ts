import type { TermMemory } from '../../model/memory/config-memory.ts';
import { Slot } from '../../model/memory/slot.ts';

/** Reasons why the OpenstackConfig is not Ready; empty: Ready, or not synced in this term. */
export const notReadyReasons = new Slot<TermMemory, ReadonlySet<string>>(() => new Set());
