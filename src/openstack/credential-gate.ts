import type { Clock } from '../time/clock.ts';

/** How long a refused password is left alone: Keystone may lock the account, and it is the administrator's. */
const refusedMs = 3_600_000;

/** What a login came to. */
export type LoginOutcome<T> =
  | { readonly kind: 'accepted'; readonly value: T }
  /** User name or password are wrong: no login with them will do. */
  | { readonly kind: 'refused'; readonly error: Error };

/**
 * Stands before the logins of one user name and password, in whichever project. Until one login was accepted they go one
 * at a time; after a refusal there is none for an hour, unless somebody asks for it.
 */
export class CredentialGate {
  readonly #clock: Clock;
  #accepted = false;
  #refusal: { readonly error: Error; readonly until: number } | undefined;
  #first: Promise<unknown> | undefined;
  readonly #asked = new Set<string>();
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Lets the next login through, once for every value that somebody asks with. */
  ask(value: string): void {
    if (value === '' || this.#asked.has(value)) return;
    this.#asked.add(value);
    this.#askedAt = this.#clock.monotonicMs();
    this.#refusal = undefined;
  }

  /** When somebody asked last: monotonic milliseconds. */
  get askedAt(): number {
    return this.#askedAt;
  }

  /** Runs `work`, or throws the error of an earlier refusal without it. */
  async logIn<T>(work: () => Promise<LoginOutcome<T>>): Promise<T> {
    while (!this.#accepted && this.#first) {
      await this.#first.catch((error: unknown) => {
        // It is the same Keystone: what failed for the first would fail for all, but for a project that is wrong.
        if (!this.#accepted) throw error;
      });
    }
    const now = this.#clock.monotonicMs();
    if (this.#refusal && now < this.#refusal.until) throw this.#refusal.error;
    if (this.#accepted) return this.#judged(work);
    const first = this.#judged(work).finally(() => {
      this.#first = undefined;
    });
    this.#first = first;
    return first;
  }

  /** The password was shown to be right by other means. */
  accept(): void {
    this.#accepted = true;
    this.#refusal = undefined;
  }

  async #judged<T>(work: () => Promise<LoginOutcome<T>>): Promise<T> {
    const outcome = await work();
    if (outcome.kind === 'accepted') {
      this.accept();
      return outcome.value;
    }
    const { error } = outcome;
    this.#accepted = false;
    this.#refusal = { error, until: this.#clock.monotonicMs() + refusedMs };
    throw error;
  }
}
