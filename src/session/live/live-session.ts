import type { ClusterAccess } from '../../kube/access/access.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { type Clock, type Random, systemClock, systemRandom } from '../../time/clock.ts';
import { type Limit, withDeadline } from '../../time/deadline.ts';
import { boundedClient } from '../access/bounded-client.ts';
import { requiredChoice } from '../access/cluster-tunnel.ts';
import { type Connections, keyOf, usualPlace } from '../access/connections.ts';
import type { OperatorApi } from '../access/operator-api.ts';
import type { OperatorTunnel } from '../access/operator-tunnel.ts';
import { type AccessOptions, usualRequestTimeoutMs } from '../access/options.ts';
import { Session } from '../access/session.ts';
import { SourceLimit } from '../access/source-limit.ts';
import { chosenProviders } from '../access/sources.ts';
import { clusterWay, isClusterSilent, type LimitOf, type LiveCluster } from './cluster-way.ts';
import { type ConnectionReport, reportOf } from './connection-report.ts';
import {
  type ConnectionOptions,
  LiveConnection,
  type Mortal,
  type Way,
} from './live-connection.ts';
import { isOperatorSilent, operatorWay } from './operator-way.ts';

/** Delays between attempts. */
const backoff = { baseMs: 250, maxMs: 30_000 };

/** Limits for a read. */
export interface ReadLimit {
  /** Ends the read, such as for a caller without a connection. */
  readonly signal: AbortSignal;
  /** Longest time for a source (ms); undefined: `requestTimeout`. */
  readonly ms?: number;
}

/** Time and chance. */
export interface LiveTools {
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Connections for a process with many reads: open on first use and again after a loss, also when a new replica leads.
 */
export class LiveSession implements Connections {
  readonly #options: AccessOptions;
  readonly #tools: LiveTools;
  readonly #clusters = new Map<string, LiveConnection<LiveCluster>>();
  readonly #operator: LiveConnection<OperatorTunnel>;
  readonly #listeners = new Set<() => void>();
  operatorPlace: string;

  constructor(
    options: AccessOptions,
    tools: LiveTools = { clock: systemClock, random: systemRandom },
  ) {
    this.#options = options;
    this.#tools = tools;
    this.operatorPlace = usualPlace(options);
    for (const provider of [undefined, ...chosenProviders(options)]) {
      const key = keyOf(requiredChoice(options, provider));
      const way = clusterWay(options, provider, this.#limitOf);
      if (!this.#clusters.has(key)) this.#clusters.set(key, this.#connection(way));
    }
    const management = (limit: Limit) => this.client(undefined, limit);
    const onPlace = (place: string) => void (this.operatorPlace = place);
    const way = operatorWay(options, { limitOf: this.#limitOf, management, onPlace });
    this.#operator = this.#connection(way);
  }

  /** Returns a session for a read; the connections outlive the session. */
  read({ signal, ms }: ReadLimit): Session {
    const options = ms === undefined ? this.#options : { ...this.#options, requestTimeout: ms };
    return new Session(options, signal, this.#tools.clock, this);
  }

  /** Returns a report per connection: management cluster, operator, business clusters. */
  reports(): ConnectionReport[] {
    const context = { options: this.#options, operatorPlace: this.operatorPlace };
    const report = (
      source: ConnectionReport['source'],
      { state }: { readonly state: LiveConnection<Mortal>['state'] },
      provider?: string,
    ) => reportOf(state, { ...context, source, provider });
    return [
      report('management cluster', this.#cluster(undefined)),
      report('operator', this.#operator),
      ...chosenProviders(this.#options).map((provider) =>
        report('business cluster', this.#cluster(provider), provider),
      ),
    ];
  }

  /** Calls `listener` after each state change; returns a function for the end. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async access(provider: string | undefined, limit: Limit): Promise<ClusterAccess> {
    return (await withDeadline(limit, () => this.#cluster(provider).value())).access;
  }

  async client(provider: string | undefined, limit: Limit): Promise<KubeClient> {
    const connection = this.#cluster(provider);
    const { client } = await withDeadline(limit, () => connection.value());
    const doubtIfSilent = (error: unknown) => {
      if (isClusterSilent(error)) connection.doubt();
    };
    return boundedClient(client, new SourceLimit(limit, doubtIfSilent));
  }

  async operator(limit: Limit): Promise<OperatorApi> {
    const { api } = await withDeadline(limit, () => this.#operator.value());
    const doubtIfSilent = (error: unknown) => {
      if (isOperatorSilent(error)) this.#operator.doubt();
    };
    return api.within(new SourceLimit(limit, doubtIfSilent));
  }

  /** Returns the connection of a cluster. Throws Unread without access options. */
  #cluster(provider: string | undefined): LiveConnection<LiveCluster> {
    const connection = this.#clusters.get(keyOf(requiredChoice(this.#options, provider)));
    if (!connection) throw new Error(`no connection for ${provider ?? 'the management cluster'}`);
    return connection;
  }

  #connection<T extends Mortal>(way: Way<T>): LiveConnection<T> {
    const onChange = () => {
      for (const listener of this.#listeners) listener();
    };
    const options: ConnectionOptions = { ...this.#tools, backoff, onChange };
    return new LiveConnection(way, options);
  }

  readonly #limitOf: LimitOf = (signal) => {
    const { requestTimeout: ms = usualRequestTimeoutMs } = this.#options;
    return { clock: this.#tools.clock, ms, signal };
  };

  /** Ends reads without a connection, and kubectl's processes; resolves after their exit. */
  async [Symbol.asyncDispose](): Promise<void> {
    const connections = [this.#operator, ...this.#clusters.values()];
    await Promise.all(connections.map((each) => each[Symbol.asyncDispose]()));
  }
}
