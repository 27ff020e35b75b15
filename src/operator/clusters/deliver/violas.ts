import { hash } from 'node:crypto';
import type { Source } from '../../../api/node-configs-http.ts';
import { SharedValues } from '../../../openstack/shared-values.ts';
import type { Logger } from '../../../process/log.ts';
import type { CaBundle } from '../../../requests/ca-bundle.ts';
import { type Caller, createCaller } from '../../../requests/caller.ts';
import { isRequestError } from '../../../requests/request-error.ts';
import { createTransport } from '../../../requests/transport.ts';
import type { Clock, Random } from '../../../time/clock.ts';
import type { ViolaEndpoint } from '../../model/resolve/endpoints.ts';
import { longestTimeoutMs } from '../../model/resolve/fields.ts';
import type { OperatorSettings } from '../../model/settings/operator.ts';
import { StepFailure } from '../../model/step-failure.ts';
import { FactPages } from './fact-pages.ts';
import type { DeliveryRecords } from './legacy/delivery-records.ts';
import { legacyFailure } from './legacy/legacy-answer.ts';
import { createLegacyViola } from './legacy/legacy-viola.ts';
import { behindGate } from './observe-gate.ts';
import { createPageMemory } from './page-reader.ts';
import type { TokenSource } from './token-source.ts';
import { refusal } from './viola-answer.ts';
import { createViolaClient, type ViolaClient } from './viola-client.ts';
import { type ReportedCluster, readClusters, storesIdentity } from './viola-clusters.ts';
import { type ViolaFact, ViolaFacts } from './viola-facts.ts';
import { violaFailure } from './viola-problem.ts';

/** Connections to all Violas named by OpenstackConfigs. */
export interface Violas extends AsyncDisposable {
  /**
   * Returns the endpoint's Viola for nodes of `owner`, behind the gate of mode Observe. Throws PolicyDenied when the
   * operator's token would go to an endpoint outside ALLOWED_ENDPOINTS.
   */
  of(endpoint: ViolaEndpoint, providerId: string, owner: Source): Promise<ViolaClient>;
  /**
   * Returns the business clusters reported by a native Viola. Throws RequestError, or PolicyDenied like the client.
   */
  clusters(endpoint: ViolaEndpoint, signal: AbortSignal): Promise<readonly ReportedCluster[]>;
  /** See `ViolaFacts.of`. Never throws. */
  facts(endpoint: ViolaEndpoint, providerId: string): Promise<ViolaFact>;
  /** See `ViolaFacts.noteSameCluster`. */
  noteSameCluster(endpoint: ViolaEndpoint, providerId: string, ids: readonly string[]): void;
}

interface ViolaSettings extends Pick<OperatorSettings, 'violaTimeout' | 'violaInsecureTls'> {
  /** undefined: no token is sent. */
  readonly token: TokenSource | undefined;
  readonly authorities: CaBundle;
}

interface ViolasDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Inventory records of nodes sent to legacy Violas. */
  readonly records: DeliveryRecords;
  /** See createTransport. */
  readonly isTrusted?: (url: URL) => boolean;
}

/** Milliseconds after which an unused business cluster's caller is dropped. */
const idleMs = 2 * 3_600_000;

/**
 * Each business cluster has a separate transport lane and circuit breaker, so a hanging cluster does not block the
 * rest.
 */
export function createViolas(settings: ViolaSettings, deps: ViolasDeps): Violas {
  const { clock, random, log, records, isTrusted } = deps;
  const { violaInsecureTls: insecure, token } = settings;
  const timeoutMs = Math.min(settings.violaTimeout, longestTimeoutMs);
  const transport = createTransport({ clock, ...(isTrusted && { isTrusted }) });
  const pages = createPageMemory();
  const callers = new SharedValues<Caller>({ clock, idleMs });
  const factPages = new SharedValues<FactPages>({ clock, idleMs });

  async function callerOf({ url: endpoint, compatibility }: ViolaEndpoint, providerId: string) {
    const ca = await settings.authorities().catch(asStep);
    const lane = `${endpoint} ${providerId}`;
    const failureFrom = compatibility === 'legacy' ? legacyFailure : refusal;
    return callers.get(`${lane} ${compatibility} ${hash('sha256', ca ?? '')}`, () =>
      createCaller({
        transport,
        clock,
        random,
        log: log.child({ endpoint, providerId }),
        tls: { insecure, ...(ca === undefined ? {} : { ca }) },
        lane,
        timeoutMs,
        failureOf: (_call, answer, now) => failureFrom(answer, now),
      }),
    );
  }

  async function readAll(
    endpoint: ViolaEndpoint,
    signal: AbortSignal,
  ): Promise<readonly ReportedCluster[]> {
    const { field, url, trusted } = endpoint;
    if (!trusted && token !== undefined) throw untrusted(field, url);
    // A separate lane stays open while a business cluster hangs.
    const caller = await callerOf(endpoint, '');
    return readClusters({ caller, endpoint: url, token, clock }, signal);
  }

  const facts = new ViolaFacts(async (endpoint, signal) => {
    const [clusters, stores] = await Promise.all([
      readAll(endpoint, signal),
      storesIdentity(await callerOf(endpoint, ''), endpoint.url, signal),
    ]);
    return { clusters, storesIdentity: stores };
  }, clock);

  return {
    async of(endpoint, providerId, owner) {
      const { field, url, trusted, compatibility } = endpoint;
      if (compatibility === 'legacy') {
        const caller = await callerOf(endpoint, providerId);
        return createLegacyViola({ caller, endpoint: url, providerId, owner, records, clock });
      }
      if (!trusted && token !== undefined) throw untrusted(field, url);
      const caller = await callerOf(endpoint, providerId);
      const nodeFacts = factPages.get(`${url} ${providerId}`, () => new FactPages());
      const memory = { pages, facts: nodeFacts };
      const about = { caller, endpoint: url, providerId, token, clock, ...memory };
      const features = async () => facts.featuresOf(endpoint, providerId);
      return behindGate(createViolaClient(about), endpoint, { providerId, features });
    },
    clusters: readAll,
    facts: async (endpoint, providerId) => facts.of(endpoint, providerId),
    noteSameCluster: (endpoint, providerId, ids) =>
      facts.noteSameCluster(endpoint, providerId, ids),
    [Symbol.asyncDispose]: async () => transport[Symbol.asyncDispose](),
  };
}

function untrusted(field: string, url: string): StepFailure {
  const message = `${field}: "${url}" is not in the operator's ALLOWED_ENDPOINTS, so the operator's Viola token is not sent there; add it to ALLOWED_ENDPOINTS, or remove the field`;
  return new StepFailure({ reason: 'PolicyDenied', message });
}

/** Converts a RequestError to a StepFailure: without a usable CA bundle no Viola is called. */
function asStep(error: unknown): never {
  if (!isRequestError(error)) throw error;
  throw violaFailure(error);
}
