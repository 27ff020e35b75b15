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
  | { readonly kind: 'unknown' }
  /** The Secrets were never listed: nobody knows what is registered. */
  | { readonly kind: 'unread' };

interface Entry {
  readonly lookup: Promise<Lookup>;
  /** Calls in flight; a client is closed when the last one has ended. */
  users: number;
  replaced: boolean;
}

export interface ClustersOptions {
  readonly secrets: Store<Secret>;
  /** Whether the Secrets have been listed. */
  readonly listed: () => boolean;
  readonly log: Logger;
  readonly connect: (registration: Registration) => KubeClient;
}

/**
 * The business clusters that Secrets register, as they are now: a Secret that comes, changes or goes takes effect at the
 * next call. The client of a Secret is kept until that changes.
 */
export class Clusters implements AsyncDisposable {
  readonly #entries = new Map<string, Entry>();
  readonly #secrets: Store<Secret>;
  readonly #listed: () => boolean;
  readonly #log: Logger;
  readonly #connect: ClustersOptions['connect'];
  readonly #unsubscribe: () => void;

  constructor({ secrets, listed, log, connect }: ClustersOptions) {
    this.#secrets = secrets;
    this.#listed = listed;
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

  /** Works with the cluster of this id as it is registered now; its connections live until the work has ended. */
  async use<T>(providerId: string, work: (lookup: Lookup) => Promise<T>): Promise<T> {
    const registered = this.#secrets
      .list()
      .filter((secret) => secret.metadata.labels?.[labels.providerId] === providerId);
    const [secret, ...others] = registered;
    if (secret === undefined) return work({ kind: this.#listed() ? 'unknown' : 'unread' });
    if (others.length > 0) {
      const names = registered.map(keyOf).join(', ');
      return work({ kind: 'broken', message: `several Secrets register it (${names}); keep one` });
    }
    const entry = this.#entryOf(secret);
    entry.users += 1;
    try {
      return await work(await entry.lookup);
    } finally {
      entry.users -= 1;
      if (entry.replaced && entry.users === 0) void closeOf(entry);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#unsubscribe();
    const held = [...this.#entries.values()];
    this.#entries.clear();
    await Promise.all(held.map(closeOf));
  }

  #entryOf(secret: Secret): Entry {
    const key = keyOf(secret);
    const held = this.#entries.get(key);
    if (held) return held;
    const entry = { lookup: this.#open(secret), users: 0, replaced: false };
    this.#entries.set(key, entry);
    return entry;
  }

  /** Never rejects: what is wrong with one Secret is said to who asks for its cluster, and hinders no other. */
  async #open(secret: Secret): Promise<Lookup> {
    try {
      const registration = await readRegistration(secret);
      const { providerId, namespace, access } = registration;
      const { server } = access;
      const cluster = { providerId, namespace, server, client: this.#connect(registration) };
      this.#log.info({ providerId, server, namespace }, 'business cluster registered');
      return { kind: 'found', cluster };
    } catch (error) {
      // The Secret is all that was read, so that whatever failed is to be corrected there.
      const flaw = error instanceof Error ? error.message : String(error);
      const message = `Secret ${keyOf(secret)}: ${flaw}`;
      this.#log.warn({ secretName: keyOf(secret), flaw }, 'business cluster cannot be used');
      return { kind: 'broken', message };
    }
  }

  #forget(key: string): void {
    const held = this.#entries.get(key);
    if (!held) return;
    this.#entries.delete(key);
    held.replaced = true;
    if (held.users === 0) void closeOf(held);
  }
}

/** Closes the client, if one was ever made: a Secret that could not be read has none. */
async function closeOf({ lookup }: Entry): Promise<void> {
  const opened = await lookup;
  if (opened.kind === 'found') await opened.cluster.client[Symbol.asyncDispose]();
}
