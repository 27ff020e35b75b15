import type { Effect } from '../../api/effects.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { sharedReads } from '../../kube/client/shared-reads.ts';
import { configMaps } from '../../kube/core-resources.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { Perform } from '../../process/effects.ts';
import type { Clock } from '../../time/clock.ts';
import {
  addEntries,
  type Buckets,
  bucketsIn,
  dataOf,
  isStoredIn,
  type LedgerEntry,
  recentBuckets,
} from './ledger-buckets.ts';

/** ConfigMap in the controller's namespace. */
export const ledgerName = 'multinic-removals';

type LedgerState =
  | { readonly kind: 'read'; readonly entries: readonly LedgerEntry[] }
  /** Named acts wait: removals of the last hour are unknown. */
  | { readonly kind: 'unknown'; readonly why: string };

export interface RemovalLedger {
  /** Call when this process becomes the leader: another replica may have written since. */
  begin(): void;
  /** Returns the entries in the last hour. Reads the ConfigMap once per process; a missing ConfigMap is empty. */
  read(signal: AbortSignal): Promise<LedgerState>;
  /** Returns the entries of the last hour as far as read; for metrics. */
  entries(): readonly LedgerEntry[];
  /**
   * Stores the entries of an object. Returns milliseconds to wait before the next call, or undefined once the API server
   * has them, or a mark of a full minute: only then the object's finalizer may go. At most one write a second.
   */
  store(entries: readonly LedgerEntry[], signal: AbortSignal): Promise<number | undefined>;
  /** Number that changes with the entries. */
  readonly version: number;
}

export interface RemovalLedgerOptions {
  readonly client: Pick<KubeClient, 'find' | 'create' | 'patch'>;
  readonly namespace: string;
  readonly perform: Perform<Effect>;
  readonly clock: Clock;
}

const writePauseMs = 1_000;
/** Delay before an unreadable ConfigMap is read again. */
const rereadMs = 10_000;

/** Stores counted removals from deleted objects in one-minute buckets, for the controller after a restart. */
export function createRemovalLedger(options: RemovalLedgerOptions): RemovalLedger {
  const { client, namespace, perform, clock } = options;
  const ref = { namespace, name: ledgerName };
  /** Undefined: not read yet. */
  let buckets: Buckets | undefined;
  let failure: { readonly why: string; readonly at: number } | undefined;
  let version = 0;
  const waiting = new Map<string, LedgerEntry>();
  let isWriting = false;
  let lastWrite = -Infinity;
  const load = sharedReads(async (signal) => {
    if (buckets) return;
    try {
      const found = await client.find(configMaps, ref, { signal });
      buckets = found ? bucketsIn(found) : new Map();
      failure = undefined;
      version += 1;
    } catch (error) {
      signal.throwIfAborted();
      failure = { why: (error as Error).message, at: clock.monotonicMs() };
    }
  });

  async function read(signal: AbortSignal): Promise<LedgerState> {
    const isFresh = failure !== undefined && clock.monotonicMs() - failure.at < rereadMs;
    if (!buckets && !isFresh) await load(signal);
    if (!buckets) {
      const why = `ConfigMap ${namespace}/${ledgerName} cannot be read: ${failure?.why}`;
      return { kind: 'unknown', why };
    }
    if (recentBuckets(buckets, clock.now()).some(({ isFull }) => isFull)) {
      const why = `ConfigMap ${namespace}/${ledgerName} has no room for all removals of the last hour`;
      return { kind: 'unknown', why };
    }
    return { kind: 'read', entries: entries() };
  }

  function entries(): readonly LedgerEntry[] {
    return buckets ? recentBuckets(buckets, clock.now()).flatMap(({ removals }) => removals) : [];
  }

  function isStored(one: LedgerEntry): boolean {
    return buckets !== undefined && isStoredIn(buckets, one, clock.now());
  }

  async function store(
    list: readonly LedgerEntry[],
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const open = list.filter((one) => !isStored(one));
    if (open.length === 0) return undefined;
    for (const one of open) waiting.set(keyOf(one), one);
    const pauseMs = lastWrite + writePauseMs - clock.monotonicMs();
    if (isWriting || pauseMs > 0) return Math.max(pauseMs, 100);
    isWriting = true;
    try {
      await read(signal);
      if (!buckets) return rereadMs;
      const batch = [...waiting.values()];
      const missing = batch.filter((each) => !isStored(each));
      if (missing.length > 0) await write(buckets, missing, signal);
      for (const each of batch) {
        if (waiting.get(keyOf(each)) === each) waiting.delete(keyOf(each));
      }
      return undefined;
    } finally {
      isWriting = false;
      lastWrite = clock.monotonicMs();
    }
  }

  async function write(
    known: Buckets,
    batch: readonly LedgerEntry[],
    signal: AbortSignal,
  ): Promise<void> {
    const { next, patch } = addEntries(known, batch, clock.now());
    await perform('controller.removals.write', async () => {
      try {
        await client.patch(configMaps, ref, { data: patch }, { signal });
      } catch (error) {
        if (!isNotFound(error)) throw error;
        const metadata = { name: ledgerName, namespace };
        await client.create(configMaps, { metadata, data: dataOf(next, next.keys()) }, { signal });
      }
    });
    buckets = next;
    version += 1;
  }

  return {
    begin() {
      buckets = undefined;
    },
    read,
    entries,
    store,
    get version() {
      return version;
    },
  };
}

function keyOf({ uid, node }: LedgerEntry): string {
  return `${uid} ${node}`;
}
