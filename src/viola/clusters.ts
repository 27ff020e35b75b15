import { labels } from '../api/names.ts';
import type { Store } from '../kube/cache/store.ts';
import type { KubeClient } from '../kube/client/client.ts';
import type { Secret } from '../kube/core-resources.ts';
import { keyOf } from '../kube/object.ts';
import type { Logger } from '../process/log.ts';
import { type Registration, readRegistration } from './cluster-secret.ts';

/** A business cluster that can be written to. */
export interface Cluster {
  readonly providerId: string;
  readonly server: string;
  readonly namespace: string;
  readonly client: KubeClient;
}

export type Lookup =
  | { readonly kind: 'found'; readonly cluster: Cluster }
  | { readonly kind: 'broken'; readonly message: string }
  | { readonly kind: 'unknown' };

interface Entry {
  readonly version: string | undefined;
  readonly cluster: Promise<Cluster>;
}

export interface ClustersOptions {
  readonly secrets: Store<Secret>;
  readonly log: Logger;
  readonly connect: (registration: Registration) => KubeClient;
}

/**
 * The business clusters that Secrets register, as they are now: a Secret that comes, changes or goes takes effect at the
 * next call. Clients are kept per Secret and version.
 */
export class Clusters implements AsyncDisposable {
  readonly #entries = new Map<string, Entry>();
  readonly #secrets: Store<Secret>;
  readonly #log: Logger;
  readonly #connect: ClustersOptions['connect'];
  readonly #unsubscribe: () => void;

  constructor({ secrets, log, connect }: ClustersOptions) {
    this.#secrets = secrets;
    this.#log = log;
    this.#connect = connect;
    this.#unsubscribe = secrets.subscribe(({ type, key }) => {
      if (type !== 'added') this.#forget(key);
    });
  }

  /** Ids of all registered clusters, sorted; also of those whose Secret cannot be used. */
  get providerIds(): readonly string[] {
    const ids = this.#secrets.list().map((secret) => secret.metadata.labels?.[labels.providerId]);
    return [...new Set(ids.filter((id) => id !== undefined))].toSorted();
  }

  async find(providerId: string): Promise<Lookup> {
    const registered = this.#secrets
      .list()
      .filter((secret) => secret.metadata.labels?.[labels.providerId] === providerId);
    const [secret, ...others] = registered;
    if (secret === undefined) return { kind: 'unknown' };
    if (others.length > 0) {
      const names = registered.map(keyOf).join(', ');
      return { kind: 'broken', message: `several Secrets register it (${names}); keep one` };
    }
    try {
      return { kind: 'found', cluster: await this.#clusterOf(secret) };
    } catch (error) {
      const flaw = error instanceof Error ? error.message : String(error);
      return { kind: 'broken', message: `Secret ${keyOf(secret)}: ${flaw}` };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#unsubscribe();
    const held = [...this.#entries.values()];
    this.#entries.clear();
    await Promise.all(held.map(closeOf));
  }

  #clusterOf(secret: Secret): Promise<Cluster> {
    const key = keyOf(secret);
    const version = secret.metadata.resourceVersion;
    const held = this.#entries.get(key);
    if (held && held.version === version) return held.cluster;
    this.#forget(key);
    const cluster = this.#open(secret);
    this.#entries.set(key, { version, cluster });
    return cluster;
  }

  async #open(secret: Secret): Promise<Cluster> {
    const registration = await readRegistration(secret);
    const { providerId, namespace, access } = registration;
    this.#log.info({ providerId, server: access.server, namespace }, 'business cluster registered');
    return { providerId, namespace, server: access.server, client: this.#connect(registration) };
  }

  #forget(key: string): void {
    const held = this.#entries.get(key);
    if (!held) return;
    this.#entries.delete(key);
    void closeOf(held);
  }
}

/** Closes the client, if one was ever made: a Secret that could not be read has none. */
async function closeOf({ cluster }: Entry): Promise<void> {
  const opened = await cluster.catch(() => undefined);
  await opened?.client[Symbol.asyncDispose]();
}
