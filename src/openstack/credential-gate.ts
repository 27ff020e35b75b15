import type { Clock } from '../time/clock.ts';

/** Pause after a refused password (1 h): Keystone may lock the account, which is often the administrator's. */
const blockMs = 3_600_000;
/**
 * Period (10 s) in which an accepted password counts as valid for other projects. A longer period would let every
 * project discover a password change by its own failed login.
 */
const trustMs = 10_000;
/**
 * First backoff (60 s) for login requests after a requested login was refused; doubles with each refusal. A restart,
 * an annotation on every object or a call flood then causes one login instead of hundreds.
 */
const firstBackoffMs = 60_000;
/** Number of remembered login requests, used to recognise repeats. */
const requestLimit = 1_000;

/** Login result. */
export type LoginOutcome<T> =
  | { readonly kind: 'accepted'; readonly value: T }
  /** Wrong user name or password: no login with this credential will succeed. */
  | { readonly kind: 'refused'; readonly error: Error };

/**
 * Serialises logins for one user name and password across projects, unless a login succeeded within 10 s. After a 401
 * the gate blocks logins for 1 h, unless a new login request arrives, so that the account is not locked.
 */
export class CredentialGate {
  readonly #clock: Clock;
  #acceptedAt = Number.NEGATIVE_INFINITY;
  #refusal: { readonly error: Error; readonly until: number } | undefined;
  #first: Promise<unknown> | undefined;
  readonly #requests = new Set<string>();
  #requestedAt = Number.NEGATIVE_INFINITY;
  /** True if the next login serves a login request. */
  #isRequested = false;
  /** End (monotonic milliseconds) of the backoff: until then the last refusal answers new login requests. */
  #backoffUntil = Number.NEGATIVE_INFINITY;
  #backoffMs = firstBackoffMs;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Unblocks the next login, once per distinct `value`. */
  requestLogin(value: string): void {
    if (value === '' || !this.#isNew(value)) return;
    const now = this.#clock.monotonicMs();
    this.#requestedAt = now;
    if (now < this.#backoffUntil) return;
    this.#isRequested = true;
    this.#refusal = undefined;
  }

  #isNew(value: string): boolean {
    const isNew = !this.#requests.delete(value);
    this.#requests.add(value);
    const [oldest = ''] = this.#requests;
    if (this.#requests.size > requestLimit) this.#requests.delete(oldest);
    return isNew;
  }

  /** Marks the login request as served by a cached token: the next login is then unrequested. */
  markServed(): void {
    this.#isRequested = false;
  }

  /** Time when the last login request arrived (monotonic milliseconds). */
  get requestedAt(): number {
    return this.#requestedAt;
  }

  /** Runs `work`, or throws the stored refusal without running `work`. */
  async logIn<T>(work: () => Promise<LoginOutcome<T>>): Promise<T> {
    while (!this.#isTrusted && this.#first) {
      await this.#first.catch((error: unknown) => {
        // All callers share one Keystone: the first caller's failure would repeat for all, except for a wrong
        // project.
        if (!this.#isTrusted) throw error;
      });
    }
    const now = this.#clock.monotonicMs();
    if (this.#refusal && now < this.#refusal.until) throw this.#refusal.error;
    if (this.#isTrusted) return this.#attempt(work);
    const first = this.#attempt(work).finally(() => {
      this.#first = undefined;
    });
    this.#first = first;
    return first;
  }

  /** Records that another login proved the password valid. */
  accept(): void {
    this.#acceptedAt = this.#clock.monotonicMs();
    this.#refusal = undefined;
    this.#isRequested = false;
    this.#backoffMs = firstBackoffMs;
  }

  get #isTrusted(): boolean {
    return this.#clock.monotonicMs() - this.#acceptedAt < trustMs;
  }

  async #attempt<T>(work: () => Promise<LoginOutcome<T>>): Promise<T> {
    const outcome = await work();
    if (outcome.kind === 'accepted') {
      this.accept();
      return outcome.value;
    }
    this.#block(outcome.error);
    throw outcome.error;
  }

  #block(error: Error): void {
    const now = this.#clock.monotonicMs();
    this.#acceptedAt = Number.NEGATIVE_INFINITY;
    this.#refusal = { error, until: now + blockMs };
    if (!this.#isRequested) return;
    this.#isRequested = false;
    this.#backoffUntil = now + this.#backoffMs;
    this.#backoffMs = Math.min(2 * this.#backoffMs, blockMs);
  }
}
