import type { Logger } from '../../process/log.ts';
import type { TlsOptions } from '../../requests/transport.ts';
import { backoffMs, jittered } from '../../time/backoff.ts';
import { type Clock, passed, type Random } from '../../time/clock.ts';
import type { BrokerAddress } from './broker-address.ts';
import { type BrokerFailure, type BrokerFailureKind, brokerFailure } from './broker-failure.ts';
import type { Listen, Listener } from './connection.ts';

export interface SubscriptionOptions {
  /** At least one; tried one after the other. */
  readonly addresses: readonly BrokerAddress[];
  readonly username: string;
  readonly password: string;
  readonly virtualHost: string;
  /** Whether the operator vouches for an address, so that its name may lead anywhere. */
  readonly isTrusted: (address: BrokerAddress) => boolean;
  /** Asked for at each connection. */
  readonly tls: () => Promise<TlsOptions>;
  readonly listen: Listen;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly onMessage: Listener['onMessage'];
  /** Messages may have been missed until now. */
  readonly onGap: () => void;
}

/** How things stand between us and a broker. */
export type Connectedness =
  | { readonly kind: 'trying' }
  | { readonly kind: 'connected'; readonly exchanges: readonly string[] }
  /** `since`: monotonic milliseconds when it was lost, or first not found. */
  | { readonly kind: 'failed'; readonly why: BrokerFailureKind; readonly since: number };

const usual = { baseMs: 1_000, maxMs: 60_000 };
/** What holds for so long has recovered. */
const steadyMs = 60_000;
/** Somebody has to do something first. */
const needsSomebody: ReadonlySet<BrokerFailureKind> = new Set<BrokerFailureKind>([
  'refused',
  'virtualHost',
  'forbidden',
  'denied',
]);
const slow = { baseMs: 60_000, maxMs: 10 * 60_000 };
/** A password is tried again so often: directories behind brokers lock users out. */
const refusedMs = 60 * 60_000;

/** A standing connection to a broker: made again whenever it is lost, for as long as it is run. */
export class Subscription {
  readonly #options: SubscriptionOptions;
  #state: Connectedness = { kind: 'trying' };
  #connectedAt: number | undefined;
  /** In a row. */
  #failures = 0;
  /** Of the password since it was last taken, whatever the other hosts said in between. */
  #refusals = 0;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
  }

  get state(): Connectedness {
    return this.#state;
  }

  /** Until the signal aborts. */
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

  /** Why the connection ended; undefined = because the signal aborted. */
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
      log.info({ exchanges }, 'listens to notifications');
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
    return backoffMs(this.#failures - 1, needsSomebody.has(why) ? slow : usual, random);
  }
}
