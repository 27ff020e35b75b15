import { createHash } from 'node:crypto';
import { findCondition, undated } from '../../../api/condition.ts';
import type { OpenstackConfigStatus } from '../../../api/openstackconfig.ts';
import { canonicalJson } from '../../../api/spec-hash.ts';
import type { Clock } from '../../../time/clock.ts';
import type { ConfigMemory } from '../../model/memory/config-memory.ts';
import { Slot } from '../../model/memory/slot.ts';
import { isSynced } from '../../model/ready.ts';

/**
 * Immediate writes per content while the status alternates. A bad content may appear once more than a good
 * content: an outage, its end, and a repetition.
 */
const immediateWrites = { good: 3, bad: 4 };
/** After these writes a content must last this long before the next write. */
const lastingMs = 30_000;
/** The counts restart after this time without a change. */
const calmMs = 10 * 60_000;
/** Contents counted per object. */
const mostContents = 16;

/** Status contents for one object and one writer. */
interface History {
  /** Last content; `since`: when this content was first found. */
  found: string;
  since: number;
  changedAt: number;
  /** Number of writes per content. */
  readonly written: Map<string, number>;
  /** Content of the last write. */
  shown: string | undefined;
}

/**
 * Damps a flapping status. A cloud that fails at every second sync would cost a write and an event each time.
 * After a few writes the problem stays in the status until no sync fails any more. In memory only: the first
 * sync after a restart is written.
 */
export class FlapDamping {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #history: History | undefined;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Records the status found; returns whether to write now. */
  allows(status: OpenstackConfigStatus): boolean {
    const found = contentOf(status);
    const history = this.#note(found);
    if (history.shown === found) return true;
    const count = history.written.get(found) ?? 0;
    const isGood = isSynced(findCondition(status.conditions, 'Ready'));
    const isImmediate = count < (isGood ? immediateWrites.good : immediateWrites.bad);
    if (!isImmediate && this.#clock.monotonicMs() - history.since < lastingMs) return false;
    history.shown = found;
    history.written.delete(found);
    history.written.set(found, count + 1);
    const [oldest] = history.written.keys();
    if (history.written.size > mostContents && oldest !== undefined) history.written.delete(oldest);
    return true;
  }

  #note(found: string): History {
    const now = this.#clock.monotonicMs();
    const before = this.#history;
    if (before?.found === found) return before;
    const written = before && now - before.changedAt < calmMs ? before.written : new Map();
    const history = { found, since: now, changedAt: now, written, shown: before?.shown };
    this.#history = history;
    return history;
  }
}

/** Returns a digest over the status without its timestamps. An attempt for a new value of reconcile-at is new content. */
function contentOf({
  conditions = [],
  downPortRetry,
  lastAttempt,
  ...status
}: OpenstackConfigStatus): string {
  const content = [
    { ...status, lastSyncedAt: '', reconcileAt: lastAttempt?.reconcileAt },
    conditions.map((one) => ({ ...one, lastTransitionTime: '', message: undated(one.message) })),
    { ...downPortRetry, lastAttempt: '' },
  ];
  return createHash('sha256').update(canonicalJson(content)).digest('base64');
}

/** Damping of sync results. */
export const flapDamping = new Slot(({ clock }: ConfigMemory) => new FlapDamping(clock));

/** Damping of node reads; apart from syncs, because a read between two syncs would end a sync's content. */
const readDamping = new Slot(({ clock }: ConfigMemory) => new FlapDamping(clock));

/** Records the status after a node read; returns whether to write now. */
export function allowsRead(memory: ConfigMemory, status: OpenstackConfigStatus): boolean {
  const conditions = ['NICsReady', 'Delivered'].flatMap((name) => {
    const found = findCondition(status.conditions, name);
    if (!found) return [];
    const { type, status: value, reason, message } = found;
    return [{ type, status: value, reason, message }];
  });
  const nics = status.summary?.nics;
  return readDamping.of(memory).allows({ conditions, ...(nics ? { summary: { nics } } : {}) });
}
