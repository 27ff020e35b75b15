import { createHash } from 'node:crypto';

/** NIC whose removal waits for consent. */
export interface WaitingNic {
  /** Business cluster (k8sProviderID). */
  readonly cluster: string;
  /** Server's instance id in a sync; object uid in a deletion or former business cluster. */
  readonly subject: string;
  /** Lower case; empty: unnamed NICs kept by the controller. */
  readonly macAddress: string;
  /** True: held above a budget. Such a hold lasts until consent or an undo; others end with a read or evidence. */
  readonly isOverBudget?: boolean;
}

/** Hold stored in `status.heldRemovals` for the present generation. */
export interface StoredHold {
  /** Empty: no NIC is held. */
  readonly digests: string;
  /** True: NICs are held above a budget. */
  readonly isOverBudget: boolean;
}

/** Above this count the status stores a hash per business cluster. */
export const mostDigests = 2_500;
const digestLength = 8;
const wholeMark = '=';

/**
 * Returns the held NICs as stored in `status.heldRemovals.digests`: sorted digests, or above 2,500 NICs a hash for each
 * business cluster.
 */
export function digestsOf(nics: readonly WaitingNic[]): string {
  const digests = new Set(nics.map(digestOf));
  if (digests.size <= mostDigests) return joined(digests);
  return [...Map.groupBy(nics, ({ cluster }) => cluster).values()]
    .map(wholeDigest)
    .toSorted()
    .join('');
}

/**
 * Returns the NICs covered by a consent to these stored digests: the only rule for syncs, former business clusters and
 * deletions. A business cluster's hash covers only an equal set.
 */
export function coveredNics<T extends WaitingNic>(
  digests: string,
  nics: readonly T[],
): ReadonlySet<T> {
  if (!isWhole(digests)) {
    const stored = digestsIn(digests);
    return new Set(nics.filter((nic) => stored.has(digestOf(nic))));
  }
  const groups = Map.groupBy(nics, ({ cluster }) => cluster).values();
  return new Set([...groups].filter((group) => digests.includes(wholeDigest(group))).flat());
}

/** Returns whether stored digests may cover this NIC; only `coveredNics` compares hashes per business cluster. */
export function mayCover(digests: string): (nic: WaitingNic) => boolean {
  if (isWhole(digests)) return () => true;
  const stored = digestsIn(digests);
  return (nic) => stored.has(digestOf(nic));
}

/** True if an earlier reconcile of this generation held one of these NICs above a budget: all wait for consent. */
export function wasOverBudget(
  { digests, isOverBudget }: StoredHold,
  nics: readonly WaitingNic[],
): boolean {
  return isOverBudget && digests !== '' && nics.some(mayCover(digests));
}

/**
 * Returns digests without duplicates. A business cluster's hash stays as stored before, and so do the digests when both
 * exceed 2,500 NICs: a consent then covers fewer NICs, and the status is not refused as too long.
 */
export function mergedDigests(before: string, now: string): string {
  if (isWhole(before) || isWhole(now)) return before === '' ? now : before;
  const digests = new Set([...digestsIn(before), ...digestsIn(now)]);
  return digests.size > mostDigests ? before : joined(digests);
}

/** True if every NIC in `now` is in `before`. */
export function isWithin(now: string, before: string): boolean {
  if (isWhole(before) || isWhole(now)) return now === before;
  const stored = digestsIn(before);
  return [...digestsIn(now)].every((digest) => stored.has(digest));
}

function isWhole(digests: string): boolean {
  return digests.startsWith(wholeMark);
}

function joined(digests: ReadonlySet<string>): string {
  return [...digests].toSorted().join('');
}

function digestsIn(text: string): ReadonlySet<string> {
  return new Set(text.match(/.{8}/g) ?? []);
}

function wholeDigest(nics: readonly WaitingNic[]): string {
  return `${wholeMark}${hashOf([...new Set(nics.map(digestOf))].toSorted())}`;
}

function digestOf({ cluster, subject, macAddress }: WaitingNic): string {
  return hashOf([cluster, subject, macAddress.toLowerCase()]).slice(0, digestLength);
}

function hashOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
