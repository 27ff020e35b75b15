import { createHash } from 'node:crypto';
import type { OpenstackConfigStatus } from '../../api/openstackconfig.ts';
import type { Clock } from '../../time/clock.ts';

/** A content that alternates with another one is written this often at once: an outage and its end, and that again. */
const writtenAtOnce = { good: 3, bad: 4 };
/** From then on only when it has lasted. */
const lastingMs = 30_000;
/** After this time without a change the counts start again. */
const calmMs = 10 * 60_000;
/** Contents that are counted for each object. */
const mostContents = 16;

/** The contents of one object's status. */
interface Course {
  /** Content of the last sync, and since when each sync has found it. */
  found: string;
  since: number;
  changedAt: number;
  /** How often each content was written. */
  readonly written: Map<string, number>;
  /** Content that was written last. */
  shown: string | undefined;
}

/**
 * Damps a flapping status. A cloud that fails at every other sync would cost a write and an event each time: after a few
 * times the problem stays in the status until it is over for good. Kept in memory only, so the first sync after a restart
 * is written.
 */
export class FlapDamping {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #course: Course | undefined;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Notes the status after a sync; returns whether to write it now. */
  allows(status: OpenstackConfigStatus): boolean {
    const found = contentOf(status);
    const course = this.#note(found);
    if (course.shown === found) return true;
    const count = course.written.get(found) ?? 0;
    const isGood = status.conditions?.some((one) => one.type === 'Ready' && one.status === 'True');
    const atOnce = count < (isGood ? writtenAtOnce.good : writtenAtOnce.bad);
    if (!atOnce && this.#clock.monotonicMs() - course.since < lastingMs) return false;
    course.shown = found;
    course.written.delete(found);
    course.written.set(found, count + 1);
    const [oldest] = course.written.keys();
    if (course.written.size > mostContents && oldest !== undefined) course.written.delete(oldest);
    return true;
  }

  #note(found: string): Course {
    const now = this.#clock.monotonicMs();
    const before = this.#course;
    if (before?.found === found) return before;
    const written = before && now - before.changedAt < calmMs ? before.written : new Map();
    const course = { found, since: now, changedAt: now, written, shown: before?.shown };
    this.#course = course;
    return course;
  }
}

/** A digest of a status without its times. */
function contentOf({ conditions = [], downPortRetry, ...status }: OpenstackConfigStatus): string {
  const content = [
    { ...status, lastSyncedAt: '' },
    conditions.map((one) => ({ ...one, lastTransitionTime: '' })),
    { ...downPortRetry, lastAttempt: '' },
  ];
  return createHash('sha256').update(JSON.stringify(content)).digest('base64');
}
