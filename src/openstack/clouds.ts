import { createHash } from 'node:crypto';
import type { Logger } from '../process/log.ts';
import { type Caller, createCaller, type RequestSample } from '../requests/caller.ts';
import type { ProxyOf } from '../requests/proxies.ts';
import { createTransport } from '../requests/transport.ts';
import type { Clock, Random } from '../time/clock.ts';
import { type Cloud, createCloud, type OnLookup } from './cloud.ts';
import {
  type Account,
  accountOf,
  accountText,
  type CatalogLimits,
  type CloudIdentity,
  credentialOf,
} from './cloud-identity.ts';
import {
  accountOfProvider,
  fetchProvider,
  type Provider,
  type ProviderRequest,
} from './contrabass.ts';
import { CredentialGate } from './credential-gate.ts';
import { RefreshTurns } from './refresh-turns.ts';
import { answerFailure } from './requests/answer-failure.ts';
import { SharedValues } from './shared-values.ts';
import { TtlCache } from './ttl-cache.ts';

export interface CloudsOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly onRequest?: (sample: RequestSample) => void;
  readonly onLookup?: OnLookup;
  /** Told whenever a service that was left alone for a while, Contrabass among them, answers again. */
  readonly onRecovered?: () => void;
  /** Default: clouds are reached directly. */
  readonly proxyOf?: ProxyOf;
  /** See createTransport. */
  readonly isTrusted?: (url: URL) => boolean;
  /** Why the catalog of a cloud may not name this URL; undefined = it may. */
  readonly denied?: (url: string, limits: CatalogLimits) => string | undefined;
}

export interface Clouds extends AsyncDisposable {
  /**
   * The one Cloud of this identity: the same object for every caller while it is in use. A password that was refused is
   * tried again at once for a new value of `asked`.
   */
  get(identity: CloudIdentity, asked?: string): Cloud;
  /** Contrabass' answer, cached for 5 minutes and forgotten when Keystone refuses the credential in it. */
  provider(request: ProviderRequest, signal: AbortSignal): Promise<Provider>;
}

/** A cloud that is down is asked once a minute, and found within one when it is back. */
const longestWindowMs = 60_000;
const providerTtlMs = 5 * 60_000;
const providerCapacity = 10_000;
/** Longer than the slowest polls are apart. */
const idleMs = 2 * 3_600_000;

/** Everything the process keeps about clouds: connections, tokens, caches, circuit breakers. */
export function createClouds(options: CloudsOptions): Clouds {
  const { clock, random, log, onRequest, onLookup, denied = () => undefined } = options;
  const lifetime = new AbortController();
  const outages = { longestWindowMs, onRecovered: options.onRecovered };
  const { proxyOf, isTrusted } = options;
  const transport = createTransport({
    clock,
    ...(proxyOf && { proxyOf }),
    ...(isTrusted && { isTrusted }),
  });
  const kept = { clock, idleMs };
  const clouds = new SharedValues<Cloud>(kept);
  const gates = new SharedValues<CredentialGate>(kept);
  const turns = new SharedValues<RefreshTurns>(kept);
  const callers = new SharedValues<Caller>(kept);
  const providers = new TtlCache<Provider>({
    clock,
    ttlMs: providerTtlMs,
    capacity: providerCapacity,
    keeps: () => true,
    onLookup: (isHit) => onLookup?.('providers', isHit),
    turnsOf: (provider) => turnsOf(accountOfProvider(provider)),
  });

  function gateOf(identity: CloudIdentity): CredentialGate {
    return gates.get(digest(credentialOf(identity)), () => new CredentialGate(clock));
  }

  function turnsOf(account: Account): RefreshTurns {
    return turns.get(digest(account), () => new RefreshTurns(clock));
  }

  function makeCloud(identity: CloudIdentity, key: string): Cloud {
    const account = digest(accountOf(identity));
    const { keystoneUrl, auth } = identity;
    const made = createCloud(identity, {
      transport,
      clock,
      random,
      log: log.child({ keystoneUrl, account: accountText(auth) }),
      lifetime: lifetime.signal,
      onRequest,
      onLookup,
      gate: gateOf(identity),
      turns: turnsOf(accountOf(identity)),
      denied,
      ...outages,
      onMoved: () => clouds.drop(key, made),
      // The password may have been changed in Contrabass since we asked.
      onRefused: () =>
        providers.forget((provider) => digest(accountOfProvider(provider)) === account),
    });
    return made;
  }

  function makeCaller({ endpoint, tls, timeoutMs }: ProviderRequest): Caller {
    const own = log.child({ endpoint });
    return createCaller({
      transport,
      clock,
      random,
      log: own,
      tls,
      timeoutMs,
      failureOf: answerFailure,
      onRequest,
      ...outages,
    });
  }

  return {
    get(identity, asked = '') {
      gateOf(identity).ask(asked);
      const key = digest(identity);
      return clouds.get(key, () => makeCloud(identity, key));
    },
    async provider(request, signal) {
      const { endpoint, tls, timeoutMs } = request;
      const caller = callers.get(digest({ endpoint, tls, timeoutMs }), () => makeCaller(request));
      const deps = { caller, now: () => clock.now() };
      return providers.get(digest(request), signal, async () =>
        fetchProvider(request, deps, lifetime.signal),
      );
    },
    async [Symbol.asyncDispose]() {
      lifetime.abort(new Error('the clouds were closed'));
      await transport[Symbol.asyncDispose]();
    },
  };
}

// Identities hold passwords and keys, which are no good as keys of maps that end up in heap dumps and debuggers.
function digest(identity: CloudIdentity | Account | Partial<ProviderRequest>): string {
  // By code units: an order of some language would load its rules, 2 MB, for as long as the process lives.
  const ordered = Object.entries(identity).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(ordered)).digest('hex');
}
