import type { TermMemory } from '../../model/memory/config-memory.ts';
import { Slot } from '../../model/memory/slot.ts';

/** Reasons why the OpenstackConfig is not Ready; empty: Ready, or not synced in this term. */
export const notReadyReasons = new Slot<TermMemory, ReadonlySet<string>>(() => new Set());

/** Why NICsReady is not True; undefined: True, or no status written in this term. */
export const nicsNotReadyReason = new Slot<TermMemory, string | undefined>(() => undefined);
