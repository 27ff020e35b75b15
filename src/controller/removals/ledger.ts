import * as z from 'zod';
import type { Effect } from '../../api/effects.ts';
import { jsonIn } from '../../api/json.ts';
import { budgetWindowMs } from '../../api/removals.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { sharedReads } from '../../kube/client/shared-reads.ts';
import { type ConfigMap, configMaps } from '../../kube/core-resources.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { Perform } from '../../process/effects.ts';
import type { Clock } from '../../time/clock.ts';

/** ConfigMap in the controller's namespace. */
export const ledgerName = 'multinic-removals';

const entry = z.object({
  /** uid of the deleted MultiNicNodeConfig. */
  uid: z.string(),
  node: z.string(),
  /** OpenstackConfig uid; absent: none. */
  config: z.string().optional(),
  macs: z.array(z.string()),
});

/** Counted removals from a deleted object, without a record any more. */
export type LedgerEntry = z.infer<typeof entry>;

const bucket = z.object({
  minute: z.int(),
  removals: z.array(entry),
  /** True: the ConfigMap has no room for all entries of this minute. */
  isFull: z.boolean().optional(),
});
type Bucket = z.infer<typeof bucket>;

export type LedgerState =
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

const minuteMs = 60_000;
/** An entry counts for an hour after the end of its minute. */
const bucketCount = 61;
const writePauseMs = 1_000;
/** Delay before an unreadable ConfigMap is read again. */
const rereadMs = 10_000;
/** An API server refuses more than 1 MiB. The rest is for keys and metadata. */
const maxBytes = 900_000;

/** Stores counted removals from deleted objects in one-minute buckets, for the controller after a restart. */
export function createRemovalLedger(options: RemovalLedgerOptions): RemovalLedger {
  const { client, namespace, perform, clock } = options;
  const ref = { namespace, name: ledgerName };
  /** Buckets by key; undefined: not read yet. */
  let buckets: Map<string, Bucket> | undefined;
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
    if (recent().some(({ isFull }) => isFull)) {
      const why = `ConfigMap ${namespace}/${ledgerName} has no room for all removals of the last hour`;
      return { kind: 'unknown', why };
    }
    return { kind: 'read', entries: entries() };
  }

  function recent(): readonly Bucket[] {
    return [...(buckets?.values() ?? [])].filter(isRecent);
  }

  function entries(): readonly LedgerEntry[] {
    return recent().flatMap(({ removals }) => removals);
  }

  /** True if the API server has the entry, or the mark that this minute is full. */
  function isStored(one: LedgerEntry): boolean {
    const minute = thisMinute();
    return recent().some(
      (each) => each.removals.some(covers(one)) || (each.isFull && each.minute === minute),
    );
  }

  function thisMinute(): number {
    return Math.floor(clock.now().getTime() / minuteMs);
  }

  function isRecent({ minute }: Bucket): boolean {
    return clock.now().getTime() < (minute + 1) * minuteMs + budgetWindowMs;
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
    known: ReadonlyMap<string, Bucket>,
    batch: readonly LedgerEntry[],
    signal: AbortSignal,
  ): Promise<void> {
    const minute = thisMinute();
    const key = String(minute % bucketCount).padStart(2, '0');
    const before = known.get(key);
    const others = new Map([...known].filter(([one, each]) => one !== key && isRecent(each)));
    const next = new Map([
      ...others,
      [key, filled(before?.minute === minute ? before : { minute, removals: [] }, batch, others)],
    ]);
    const ended = [...known.keys()].filter((one) => !next.has(one));
    const changes = {
      ...textOf(next, [key]),
      ...Object.fromEntries(ended.map((one) => [one, null])),
    };
    await perform('controller.removals.write', async () => {
      try {
        await client.patch(configMaps, ref, { data: changes }, { signal });
      } catch (error) {
        if (!isNotFound(error)) throw error;
        const metadata = { name: ledgerName, namespace };
        await client.create(configMaps, { metadata, data: textOf(next, next.keys()) }, { signal });
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

/** Returns whether an entry names all NICs of the given entry. */
function covers({ uid, node, macs }: LedgerEntry): (entry: LedgerEntry) => boolean {
  return (one) =>
    one.uid === uid && one.node === node && macs.every((mac) => one.macs.includes(mac));
}

/** Returns the bucket with entries that the ConfigMap has room for. The first entry without room marks the bucket. */
function filled(
  before: Bucket,
  batch: readonly LedgerEntry[],
  others: ReadonlyMap<string, Bucket>,
): Bucket {
  let room = maxBytes - [before, ...others.values()].reduce((sum, one) => sum + bytesOf(one), 0);
  const removals = [...before.removals];
  for (const one of batch) {
    room -= bytesOf(one) + 1;
    if (room < 0) return { ...before, removals, isFull: true };
    removals.push(one);
  }
  return { ...before, removals };
}

function bytesOf(part: LedgerEntry | Bucket): number {
  return Buffer.byteLength(JSON.stringify(part));
}

function textOf(buckets: ReadonlyMap<string, Bucket>, keys: Iterable<string>) {
  return Object.fromEntries([...keys].map((key) => [key, JSON.stringify(buckets.get(key))]));
}

/** Throws an error that names the key with unusable content. */
function bucketsIn({ data = {} }: ConfigMap): Map<string, Bucket> {
  return new Map(
    Object.entries(data).map(([key, text]) => {
      const read = bucket.safeParse(jsonIn(text));
      if (!read.success) {
        throw new Error(
          `data.${key} is not a list of removals (${z.prettifyError(read.error)}); correct it, or delete the ConfigMap to count from the objects alone`,
        );
      }
      return [key, read.data];
    }),
  );
}
