import { protocol as newestProtocol, type Protocol } from '../../api/job.ts';
import type { Clock } from '../../time/clock.ts';
import type { Applied } from '../jobs/applied.ts';
import type { Failure } from '../jobs/runner.ts';
import { pauseMs } from '../scheduling/schedule.ts';
import { unreadable } from '../scheduling/terms.ts';

/** A drift check that keeps failing; retried with backoff. */
interface FailingCheck {
  readonly content: string;
  /** Last counted run; undefined for a refused run, which never existed. */
  readonly job: string | undefined;
  readonly failures: number;
  readonly failure: Failure;
  /** Time of the next attempt on the monotonic clock. */
  readonly until: number;
}

/** Oldest protocol with the action check. */
const oldest = 3 satisfies Protocol;

/** Failed checks in this process, and agents that could not read the newest protocol. */
export class FailingChecks {
  readonly #clock: Clock;
  readonly #known = new Map<string, FailingCheck>();
  /** First check Job by key that the agent could not read. */
  readonly #unread = new Map<string, string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the failures of a check with this content. */
  of(key: string, content: string): FailingCheck | undefined {
    const known = this.#known.get(key);
    return known?.content === content ? known : undefined;
  }

  /** False for a counted failure, and for the first request that an older agent could not read. */
  isNew(
    key: string,
    applied: Applied,
    { job, reason }: Failure & { readonly job: string },
  ): boolean {
    if (this.#known.get(key)?.job === job) return false;
    if (!unreadable.has(reason) || spokenIn(applied) === newestProtocol) return true;
    const first = this.#unread.get(key) ?? job;
    this.#unread.set(key, first);
    return first !== job;
  }

  /** Returns the newest protocol that the agent reads; the image of agents may be newer than the record. */
  protocolFor(key: string, applied: Applied): Protocol {
    if (!this.#unread.has(key)) return newestProtocol;
    const spoken = spokenIn(applied);
    return spoken >= oldest ? spoken : oldest;
  }

  /** Counts a failure; `ended` is undefined for a run that never existed. */
  note(key: string, content: string, failure: Failure, ended: string | undefined): void {
    const before = this.of(key, content);
    const failures = (before?.failures ?? 0) + 1;
    const { reason, message } = failure;
    const until = this.#clock.monotonicMs() + pauseMs([reason], failures, content);
    const job = ended ?? before?.job;
    this.#known.set(key, { content, job, failures, failure: { reason, message }, until });
  }

  /** Call when a run is created again under the same name: the old failure must not match. */
  restarted(key: string, job: string): void {
    const before = this.#known.get(key);
    if (before?.job === job) this.#known.set(key, { ...before, job: undefined });
  }

  /** Call when the object is gone. */
  forget(key: string): void {
    this.#known.delete(key);
    this.#unread.delete(key);
  }
}

/** Returns the protocol of the last agent run. Checks alone prove none, because the image may be older since. */
function spokenIn({ action, protocol }: Applied): Protocol {
  return action === 'check' ? oldest : protocol;
}
