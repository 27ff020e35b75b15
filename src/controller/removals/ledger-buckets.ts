import * as z from 'zod';
import { jsonIn } from '../../api/json.ts';
import { budgetWindowMs } from '../../api/removals.ts';
import type { ConfigMap } from '../../kube/core-resources.ts';

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

/** Removals of one minute. */
type Bucket = z.infer<typeof bucket>;

/** Buckets by key in the ConfigMap. */
export type Buckets = ReadonlyMap<string, Bucket>;

const minuteMs = 60_000;
/** An entry counts for an hour after the end of its minute. */
const bucketCount = 61;
/** An API server refuses more than 1 MiB. The rest is for keys and metadata. */
const maxBytes = 900_000;

/** Returns the buckets whose removals count. */
export function recentBuckets(buckets: Buckets, now: Date): readonly Bucket[] {
  return [...buckets.values()].filter((one) => isRecent(one, now));
}

function isRecent({ minute }: Bucket, now: Date): boolean {
  return now.getTime() < (minute + 1) * minuteMs + budgetWindowMs;
}

/** True if a bucket has the entry, or the mark that this minute is full. */
export function isStoredIn(buckets: Buckets, one: LedgerEntry, now: Date): boolean {
  const minute = minuteOf(now);
  return recentBuckets(buckets, now).some(
    (each) => each.removals.some(covers(one)) || (each.isFull && each.minute === minute),
  );
}

function minuteOf(now: Date): number {
  return Math.floor(now.getTime() / minuteMs);
}

/** Buckets after a write, and the patch for the ConfigMap's data. */
interface BucketsChange {
  readonly next: Buckets;
  readonly patch: Readonly<Record<string, string | null>>;
}

/** Adds entries to the bucket of this minute, and removes the buckets that no longer count. */
export function addEntries(
  buckets: Buckets,
  batch: readonly LedgerEntry[],
  now: Date,
): BucketsChange {
  const minute = minuteOf(now);
  const key = String(minute % bucketCount).padStart(2, '0');
  const before = buckets.get(key);
  const others = new Map([...buckets].filter(([one, each]) => one !== key && isRecent(each, now)));
  const current = before?.minute === minute ? before : { minute, removals: [] };
  const next = new Map([...others, [key, filled(current, batch, others)]]);
  const ended = [...buckets.keys()].filter((one) => !next.has(one));
  const removed = Object.fromEntries(ended.map((one) => [one, null]));
  return { next, patch: { ...dataOf(next, [key]), ...removed } };
}

/** Returns whether an entry names all NICs of the given entry. */
function covers({ uid, node, macs }: LedgerEntry): (entry: LedgerEntry) => boolean {
  return (one) =>
    one.uid === uid && one.node === node && macs.every((mac) => one.macs.includes(mac));
}

/** Returns the bucket with entries that the ConfigMap has room for. The first entry without room marks the bucket. */
function filled(before: Bucket, batch: readonly LedgerEntry[], others: Buckets): Bucket {
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

/** Returns these buckets as data of the ConfigMap. */
export function dataOf(buckets: Buckets, keys: Iterable<string>): Record<string, string> {
  return Object.fromEntries([...keys].map((key) => [key, JSON.stringify(buckets.get(key))]));
}

/** Throws an error that names the key with unusable content. */
export function bucketsIn({ data = {} }: ConfigMap): Buckets {
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
