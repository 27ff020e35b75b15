import type { FactSource, RequiredSource } from '../../explain/fact.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { type Clock, systemClock } from '../../time/clock.ts';
import type { ChildLimit } from './child.ts';
import { readClusterText } from './cluster-text.ts';
import { requiredChoice } from './cluster-tunnel.ts';
import { CommandConnections, type Connections, keyOf, once } from './connections.ts';
import type { OperatorApi } from './operator-api.ts';
import { findOperator, type OperatorHome } from './operator-home.ts';
import { type AccessOptions, usualRequestTimeoutMs } from './options.ts';
import { choiceOf, kubeconfigOf, requiredSource } from './sources.ts';

/** Reads for a command or a request. A source without any answer within the limit gets no further call. */
export class Session implements AsyncDisposable {
  readonly options: AccessOptions;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Limit per call to a source, and for starting kubectl. */
  readonly limit: ChildLimit;
  readonly #connections: Connections;
  readonly #isOwner: boolean;
  readonly #clients = new Map<string, Promise<KubeClient>>();
  #home: Promise<OperatorHome> | undefined;
  #operator: Promise<OperatorApi> | undefined;

  /** `shared` connections outlive this session; undefined: the session opens and ends own connections. */
  constructor(
    options: AccessOptions,
    signal: AbortSignal,
    clock: Clock = systemClock,
    shared?: Connections,
  ) {
    this.options = options;
    this.signal = signal;
    this.clock = clock;
    this.limit = { clock, ms: options.requestTimeout ?? usualRequestTimeoutMs, signal };
    this.#connections = shared ?? new CommandConnections(options, this.limit, () => this.home());
    this.#isOwner = shared === undefined;
  }

  now(): Date {
    return this.clock.now();
  }

  /** Returns the required source; undefined: a business cluster without access options. */
  required(source: FactSource, provider?: string): RequiredSource | undefined {
    const { operatorPlace } = this.#connections;
    return requiredSource(this.options, { source, provider, operatorPlace });
  }

  /** Returns the kubeconfig's path for a business cluster; undefined: for the management cluster. */
  kubeconfig(provider: string | undefined): string {
    return kubeconfigOf(choiceOf(this.options, provider)?.kubeconfig);
  }

  management(): Promise<KubeClient> {
    return this.client(undefined);
  }

  home(): Promise<OperatorHome> {
    const search = {
      chosen: this.options.operatorNamespace,
      now: this.now(),
      signal: this.signal,
    };
    this.#home ??= this.management().then((client) => findOperator(client, search));
    return this.#home;
  }

  operator(): Promise<OperatorApi> {
    this.#operator ??= this.#connections.operator(this.limit);
    return this.#operator;
  }

  /** Returns a business cluster's client; undefined: the management cluster. Throws Unread without access. */
  async client(provider: string | undefined): Promise<KubeClient> {
    // Clusters with the same access share a limit: a silent API server costs a single wait.
    return once(this.#clients, keyOf(requiredChoice(this.options, provider)), () =>
      this.#connections.client(provider, this.limit),
    );
  }

  /** Reads text from an API server, such as a log; undefined: the management cluster. */
  async text(provider: string | undefined, path: string): Promise<string> {
    return readClusterText(await this.#connections.access(provider, this.limit), path, this.limit);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isOwner) await this.#connections[Symbol.asyncDispose]();
  }
}
