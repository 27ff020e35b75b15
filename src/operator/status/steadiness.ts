import { createHash } from 'node:crypto';
import type { OpenstackConfigStatus } from '../../api/openstackconfig.ts';
import type { Clock } from '../../time/clock.ts';

/** What comes and goes is told this often at once: an outage and its end, and that again. */
const toldAtOnce = { good: 3, bad: 4 };
/** From then on, only when it has lasted. */
const lastingMs = 30_000;
/** So long after the last change nothing comes and goes any more. */
const calmMs = 10 * 60_000;
/** Contents that are counted for each object; one that goes on says something new each time. */
const remembered = 16;

/** What the looks at one object have been finding. */
interface Course {
  /** What the last look found, and since when each look has. */
  found: string;
  since: number;
  changedAt: number;
  /** How often each was told. */
  readonly told: Map<string, number>;
  /** What was told last. */
  shown: string | undefined;
}

/**
 * Holds back what comes and goes. A cloud that fails at every other look would cost a write and a line in everybody's watch
 * each time, and nobody learns more from the tenth than from the third: after a few times the trouble is left standing until
 * it is over for good. Only kept in memory: a process that begins anew says what it finds.
 */
export class Steadiness {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #courses = new Map<string, Course>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Notes what a look found; whether it is to be told now. */
  allows(key: string, status: OpenstackConfigStatus): boolean {
    const found = contentOf(status);
    const course = this.#note(key, found);
    if (course.shown === found) return true;
    const count = course.told.get(found) ?? 0;
    const isGood = status.conditions?.some((one) => one.type === 'Ready' && one.status === 'True');
    const atOnce = count < (isGood ? toldAtOnce.good : toldAtOnce.bad);
    if (!atOnce && this.#clock.monotonicMs() - course.since < lastingMs) return false;
    course.shown = found;
    course.told.delete(found);
    course.told.set(found, count + 1);
    const [oldest] = course.told.keys();
    if (course.told.size > remembered && oldest !== undefined) course.told.delete(oldest);
    return true;
  }

  forget(key: string): void {
    this.#courses.delete(key);
  }

  #note(key: string, found: string): Course {
    const now = this.#clock.monotonicMs();
    const before = this.#courses.get(key);
    if (before?.found === found) return before;
    const told = before && now - before.changedAt < calmMs ? before.told : new Map();
    const course = { found, since: now, changedAt: now, told, shown: before?.shown };
    this.#courses.set(key, course);
    return course;
  }
}

/** What a status says, whenever it is said. */
function contentOf({ conditions = [], downPortRetry, ...status }: OpenstackConfigStatus): string {
  const content = [
    { ...status, lastSyncedAt: '' },
    conditions.map((one) => ({ ...one, lastTransitionTime: '' })),
    { ...downPortRetry, lastAttempt: '' },
  ];
  return createHash('sha256').update(JSON.stringify(content)).digest('base64');
}
