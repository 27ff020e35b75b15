import type { Clock } from '../time/clock.ts';

/** How long a refused password is left alone: Keystone may lock the account, and it is the administrator's. */
const refusedMs = 3_600_000;
/**
 * A password that was right a moment ago is right for other projects too. One that was right for the last token may have
 * been changed since, and then every project would find out for itself.
 */
const believedMs = 10_000;
/**
 * Whoever asks again so soon after a refusal that somebody had asked for was answered by it: a restart, an annotation on
 * every object or a flood of calls asks for one login and not for hundreds. It doubles with each of them.
 */
const answeredMs = 60_000;
/** Requests that are told from new ones. */
const mostAsked = 1_000;

/** What a login came to. */
export type LoginOutcome<T> =
  | { readonly kind: 'accepted'; readonly value: T }
  /** User name or password are wrong: no login with them will do. */
  | { readonly kind: 'refused'; readonly error: Error };

/**
 * Stands before the logins of one user name and password, in whichever project. Unless one was accepted a moment ago they go
 * one at a time; after a refusal there is none for an hour, unless somebody asks for it.
 */
export class CredentialGate {
  readonly #clock: Clock;
  #acceptedAt = Number.NEGATIVE_INFINITY;
  #refusal: { readonly error: Error; readonly until: number } | undefined;
  #first: Promise<unknown> | undefined;
  readonly #asked = new Set<string>();
  #askedAt = Number.NEGATIVE_INFINITY;
  /** Whether somebody asked for the next login. */
  #isAskedFor = false;
  /** Who asks before this was answered by the last refusal. */
  #answeredUntil = Number.NEGATIVE_INFINITY;
  #answeredMs = answeredMs;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Lets the next login through, once for every value that somebody asks with. */
  ask(value: string): void {
    if (value === '' || !this.#isNew(value)) return;
    const now = this.#clock.monotonicMs();
    this.#askedAt = now;
    if (now < this.#answeredUntil) return;
    this.#isAskedFor = true;
    this.#refusal = undefined;
  }

  #isNew(value: string): boolean {
    const isNew = !this.#asked.delete(value);
    this.#asked.add(value);
    const [oldest = ''] = this.#asked;
    if (this.#asked.size > mostAsked) this.#asked.delete(oldest);
    return isNew;
  }

  /** What somebody asked for was done with a token that is there: the next login is nobody's wish. */
  served(): void {
    this.#isAskedFor = false;
  }

  /** When somebody asked last: monotonic milliseconds. */
  get askedAt(): number {
    return this.#askedAt;
  }

  /** Runs `work`, or throws the error of an earlier refusal without it. */
  async logIn<T>(work: () => Promise<LoginOutcome<T>>): Promise<T> {
    while (!this.#isBelieved && this.#first) {
      await this.#first.catch((error: unknown) => {
        // It is the same Keystone: what failed for the first would fail for all, but for a project that is wrong.
        if (!this.#isBelieved) throw error;
      });
    }
    const now = this.#clock.monotonicMs();
    if (this.#refusal && now < this.#refusal.until) throw this.#refusal.error;
    if (this.#isBelieved) return this.#judged(work);
    const first = this.#judged(work).finally(() => {
      this.#first = undefined;
    });
    this.#first = first;
    return first;
  }

  /** The password was shown to be right by other means. */
  accept(): void {
    this.#acceptedAt = this.#clock.monotonicMs();
    this.#refusal = undefined;
    this.#isAskedFor = false;
    this.#answeredMs = answeredMs;
  }

  get #isBelieved(): boolean {
    return this.#clock.monotonicMs() - this.#acceptedAt < believedMs;
  }

  async #judged<T>(work: () => Promise<LoginOutcome<T>>): Promise<T> {
    const outcome = await work();
    if (outcome.kind === 'accepted') {
      this.accept();
      return outcome.value;
    }
    this.#refused(outcome.error);
    throw outcome.error;
  }

  #refused(error: Error): void {
    const now = this.#clock.monotonicMs();
    this.#acceptedAt = Number.NEGATIVE_INFINITY;
    this.#refusal = { error, until: now + refusedMs };
    if (!this.#isAskedFor) return;
    this.#isAskedFor = false;
    this.#answeredUntil = now + this.#answeredMs;
    this.#answeredMs = Math.min(2 * this.#answeredMs, refusedMs);
  }
}
