import type { Logger } from '../../process/log.ts';
import type { TlsOptions } from '../../requests/transport.ts';
import { backoffMs, jittered } from '../../time/backoff.ts';
import { type Clock, passed, type Random } from '../../time/clock.ts';
import type { BrokerAddress } from './broker-address.ts';
import { type BrokerFailure, type BrokerFailureKind, brokerFailure } from './broker-failure.ts';
import type { Listen, Listener } from './connection.ts';

export interface SubscriptionOptions {
  /** At least one address; tried in turn. */
  readonly addresses: readonly BrokerAddress[];
  readonly username: string;
  readonly password: string;
  readonly virtualHost: string;
  /** True if the operator trusts the address, so that its name may resolve to inner addresses. */
  readonly isTrusted: (address: BrokerAddress) => boolean;
  /** Called for each connection. */
  readonly tls: () => Promise<TlsOptions>;
  readonly listen: Listen;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly onMessage: Listener['onMessage'];
  /** Called when messages may have been missed up to now. */
  readonly onGap: () => void;
}

/** Connection state. */
export type Connectedness =
  | { readonly kind: 'trying' }
  | { readonly kind: 'connected'; readonly exchanges: readonly string[] }
  /** `since`: monotonic milliseconds when the connection was lost, or first failed. */
  | { readonly kind: 'failed'; readonly why: BrokerFailureKind; readonly since: number };

const usualBackoff = { baseMs: 1_000, maxMs: 60_000 };
/** Uptime after which the backoff is reset (60 s). */
const steadyMs = 60_000;
/** Failures that a user must fix first. */
const needsUser: ReadonlySet<BrokerFailureKind> = new Set<BrokerFailureKind>([
  'refused',
  'virtualHost',
  'forbidden',
  'denied',
]);
const slowBackoff = { baseMs: 60_000, maxMs: 10 * 60_000 };
/** Retry interval for a refused password (1 h): directories behind brokers lock users out. */
const refusedMs = 60 * 60_000;

/** Permanent broker connection, re-established after every loss while run() is active. */
export class Subscription {
  readonly #options: SubscriptionOptions;
  #state: Connectedness = { kind: 'trying' };
  #connectedAt: number | undefined;
  /** Consecutive failures. */
  #failures = 0;
  /** Password refusals since the last accepted login, regardless of failures at other hosts. */
  #refusals = 0;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
  }

  get state(): Connectedness {
    return this.#state;
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    for (let attempt = 0; !signal.aborted; attempt++) {
      const failure = await this.#listen(attempt, signal);
      if (failure === undefined) break;
      this.#note(failure);
      if (!(await passed(clock, this.#pauseMs(failure.kind), signal))) break;
    }
    this.#state = { kind: 'trying' };
  }

  /** Returns why the connection ended; undefined: the signal aborted. */
  async #listen(attempt: number, signal: AbortSignal): Promise<BrokerFailure | undefined> {
    const { addresses, username, password, virtualHost, isTrusted, tls, listen, onMessage } =
      this.#options;
    const address = addresses[attempt % addresses.length];
    if (!address) return undefined;
    this.#connectedAt = undefined;
    const onBound = (exchanges: readonly string[]): void => this.#bound(exchanges);
    try {
      const login = {
        address,
        username,
        password,
        virtualHost,
        isTrusted: isTrusted(address),
        tls: await tls(),
      };
      return await listen(login, { onMessage, onBound }, signal);
    } catch (error) {
      return signal.aborted ? undefined : brokerFailure(error);
    }
  }

  #bound(exchanges: readonly string[]): void {
    const { clock, log, onGap } = this.#options;
    const before = this.#state.kind === 'connected' ? this.#state.exchanges : undefined;
    this.#connectedAt ??= clock.monotonicMs();
    this.#refusals = 0;
    this.#state = { kind: 'connected', exchanges };
    if (before === undefined || exchanges.some((one) => !before.includes(one))) {
      log.info({ exchanges }, 'listening to notifications');
      onGap();
    }
  }

  #note(failure: BrokerFailure): void {
    const { clock, log } = this.#options;
    const now = clock.monotonicMs();
    const { kind: why, message } = failure;
    if (this.#connectedAt !== undefined && now - this.#connectedAt >= steadyMs) this.#failures = 0;
    this.#failures++;
    if (why === 'refused') this.#refusals++;
    const before = this.#state;
    if (before.kind !== 'failed' || before.why !== why) {
      log.warn({ why, err: failure }, `no notifications: ${message}`);
    }
    this.#state = { kind: 'failed', why, since: before.kind === 'failed' ? before.since : now };
  }

  #pauseMs(why: BrokerFailureKind): number {
    const { random } = this.#options;
    if (why === 'refused' && this.#refusals > 1) return jittered(refusedMs, random);
    return backoffMs(this.#failures - 1, needsUser.has(why) ? slowBackoff : usualBackoff, random);
  }
}
