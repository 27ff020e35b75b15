import type { ClusterAccess } from '../../kube/access/access.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Limit } from '../../time/deadline.ts';
import { boundedClient } from './bounded-client.ts';
import type { ChildLimit } from './child.ts';
import { connect } from './cluster-access.ts';
import { openCluster, requiredChoice } from './cluster-tunnel.ts';
import type { ClusterChoice } from './kubectl.ts';
import type { OperatorApi } from './operator-api.ts';
import { type OperatorHome, usualHomes } from './operator-home.ts';
import { openOperator } from './operator-tunnel.ts';
import type { AccessOptions } from './options.ts';
import { SourceLimit } from './source-limit.ts';

/** Connections with a user's rights, opened on first use. */
export interface Connections extends AsyncDisposable {
  /** Place for messages about the operator's API. */
  readonly operatorPlace: string;
  /** Returns access to a cluster; undefined: the management cluster. Throws Unread without access options. */
  access(provider: string | undefined, limit: Limit): Promise<ClusterAccess>;
  /** Returns a cluster's client; all calls share the limit. */
  client(provider: string | undefined, limit: Limit): Promise<KubeClient>;
  /** Returns the API at the operator's leader; all calls share the limit. */
  operator(limit: Limit): Promise<OperatorApi>;
}

/** Connections for a command: a failed connection stays failed. */
export class CommandConnections implements Connections {
  readonly #options: AccessOptions;
  readonly #limit: ChildLimit;
  readonly #home: () => Promise<OperatorHome>;
  readonly #open: AsyncDisposable[] = [];
  readonly #clients = new Map<string, Promise<KubeClient>>();
  readonly #accesses = new Map<string, Promise<ClusterAccess>>();
  #operator: Promise<OperatorApi> | undefined;
  operatorPlace: string;

  /** `home` finds the operator. */
  constructor(options: AccessOptions, limit: ChildLimit, home: () => Promise<OperatorHome>) {
    this.#options = options;
    this.#limit = limit;
    this.#home = home;
    this.operatorPlace = usualPlace(options);
  }

  async access(provider: string | undefined): Promise<ClusterAccess> {
    return once(this.#accesses, this.#keyOf(provider), async () =>
      this.#kept(await openCluster(this.#options, provider, this.#limit)),
    );
  }

  async client(provider: string | undefined, limit: Limit): Promise<KubeClient> {
    const client = await once(this.#clients, this.#keyOf(provider), async () =>
      this.#kept(connect(await this.access(provider), this.#limit)),
    );
    return boundedClient(client, new SourceLimit(limit));
  }

  async operator(limit: Limit): Promise<OperatorApi> {
    this.#operator ??= this.#openOperator();
    return (await this.#operator).within(new SourceLimit(limit));
  }

  async #openOperator(): Promise<OperatorApi> {
    const onPlace = (place: string) => void (this.operatorPlace = place);
    const search = { limit: this.#limit, home: this.#home, onPlace };
    return this.#kept(await openOperator(this.#options, search)).api;
  }

  #keyOf(provider: string | undefined): string {
    return keyOf(requiredChoice(this.#options, provider));
  }

  #kept<T extends AsyncDisposable>(resource: T): T {
    this.#open.push(resource);
    return resource;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const resource of this.#open.toReversed()) await resource[Symbol.asyncDispose]();
  }
}

/** Returns the place for messages before the operator is found. */
export function usualPlace({ operatorNamespace }: AccessOptions): string {
  return `namespace ${operatorNamespace ?? usualHomes[0]}`;
}

/** Returns a key; clusters with the same access share a connection. */
export function keyOf({ context = '', kubeconfig = '' }: ClusterChoice): string {
  return `${context}\n${kubeconfig}`;
}

/** Returns the entry of a key, made on first use. */
export function once<T>(
  all: Map<string, Promise<T>>,
  key: string,
  create: () => Promise<T>,
): Promise<T> {
  const existing = all.get(key);
  if (existing) return existing;
  const created = create();
  all.set(key, created);
  return created;
}
