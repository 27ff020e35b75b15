import { labels } from '../../api/names.ts';
import type { Store } from '../../kube/cache/store.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Secret } from '../../kube/core-resources.ts';
import { keyOf } from '../../kube/object.ts';
import type { Logger } from '../../process/log.ts';
import { type Registration, readRegistration } from './secret.ts';

/** Usable business cluster. */
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
  /** The Secrets were never listed: registrations are unknown. */
  | { readonly kind: 'unread' };

interface Entry {
  readonly lookup: Promise<Lookup>;
  /** Calls in flight; the client is closed after the last call. */
  users: number;
  replaced: boolean;
}

export interface ClustersOptions {
  readonly secrets: Store<Secret>;
  /** True once the Secrets were listed. */
  readonly listed: () => boolean;
  readonly log: Logger;
  readonly connect: (registration: Registration) => KubeClient;
}

/**
 * Business clusters registered by Secrets. An added, changed or removed Secret takes effect at the next call; clients
 * are kept until their Secret changes.
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

  /** Returns all registered cluster ids, sorted, including clusters with an unusable Secret. */
  get providerIds(): readonly string[] {
    const ids = this.#secrets.list().map((secret) => secret.metadata.labels?.[labels.providerId]);
    return [...new Set(ids.filter((id) => id !== undefined))].toSorted();
  }

  /** Runs `work` with the current registration for this id; its client stays open until `work` ends. */
  async use<T>(providerId: string, work: (lookup: Lookup) => Promise<T>): Promise<T> {
    const registered = this.#secrets
      .list()
      .filter((secret) => secret.metadata.labels?.[labels.providerId] === providerId);
    const [secret, ...others] = registered;
    if (secret === undefined) return work({ kind: this.#listed() ? 'unknown' : 'unread' });
    if (others.length > 0) {
      const names = registered.map(keyOf).join(', ');
      return work({
        kind: 'broken',
        message: `several Secrets register "${providerId}" (${names}); delete all but one`,
      });
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
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    await Promise.all(entries.map(closeOf));
  }

  #entryOf(secret: Secret): Entry {
    const key = keyOf(secret);
    const existing = this.#entries.get(key);
    if (existing) return existing;
    const entry = { lookup: this.#open(secret), users: 0, replaced: false };
    this.#entries.set(key, entry);
    return entry;
  }

  /** Never rejects: an unusable Secret is reported to its callers only. */
  async #open(secret: Secret): Promise<Lookup> {
    try {
      const registration = await readRegistration(secret);
      const { providerId, namespace, access } = registration;
      const { server } = access;
      const cluster = { providerId, namespace, server, client: this.#connect(registration) };
      this.#log.info({ providerId, server, namespace }, 'business cluster registered');
      return { kind: 'found', cluster };
    } catch (error) {
      // Only the Secret was read, so the error must be corrected there.
      const flaw = error instanceof Error ? error.message : String(error);
      const message = `Secret ${keyOf(secret)}: ${flaw}`;
      this.#log.warn({ secretName: keyOf(secret), flaw }, 'business cluster cannot be used');
      return { kind: 'broken', message };
    }
  }

  #forget(key: string): void {
    const existing = this.#entries.get(key);
    if (!existing) return;
    this.#entries.delete(key);
    existing.replaced = true;
    if (existing.users === 0) void closeOf(existing);
  }
}

/** Closes the client; an unreadable Secret has none. */
async function closeOf({ lookup }: Entry): Promise<void> {
  const opened = await lookup;
  if (opened.kind === 'found') await opened.cluster.client[Symbol.asyncDispose]();
}
