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
  /** Called when a service, including Contrabass, answers again after its circuit breaker opened. */
  readonly onRecovered?: () => void;
  /** Default: direct connections. */
  readonly proxyOf?: ProxyOf;
  /** See createTransport. */
  readonly isTrusted?: (url: URL) => boolean;
  /** Returns why the policy denies a URL from a cloud's catalog; undefined: allowed. */
  readonly denied?: (url: string, limits: CatalogLimits) => string | undefined;
}

export interface Clouds extends AsyncDisposable {
  /**
   * Returns the identity's only Cloud, the same object for all callers while in use. Each new `loginRequest` value
   * retries a refused password at once.
   */
  get(identity: CloudIdentity, loginRequest?: string): Cloud;
  /** Returns Contrabass' answer, cached for 5 minutes and dropped when Keystone refuses its credential. */
  provider(request: ProviderRequest, signal: AbortSignal): Promise<Provider>;
}

/** Probe interval for a cloud that is down; also the longest delay before its recovery is noticed. */
const longestWindowMs = 60_000;
const providerTtlMs = 5 * 60_000;
const providerCapacity = 10_000;
/** Exceeds the longest poll interval. */
const idleMs = 2 * 3_600_000;

/** Creates the process-wide cloud state: connections, tokens, caches and circuit breakers. */
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
  const sharing = { clock, idleMs };
  const clouds = new SharedValues<Cloud>(sharing);
  const gates = new SharedValues<CredentialGate>(sharing);
  const turns = new SharedValues<RefreshTurns>(sharing);
  const callers = new SharedValues<Caller>(sharing);
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
      // The password may have changed in Contrabass since the last read.
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
    get(identity, loginRequest = '') {
      gateOf(identity).requestLogin(loginRequest);
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
      lifetime.abort(new Error('the operator is stopping'));
      await transport[Symbol.asyncDispose]();
    },
  };
}

// Identities contain passwords and keys. Map keys appear in heap dumps and debuggers, so only digests serve as keys.
function digest(identity: CloudIdentity | Account | Partial<ProviderRequest>): string {
  // Compares code units: a locale-aware comparison loads 2 MB collation data for the process lifetime.
  const ordered = Object.entries(identity).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(ordered)).digest('hex');
}
