import type { JobResult, NicReason } from '../../api/job.ts';
import { isFoundReason, isNicFailing } from './evidence.ts';

/** Content hashes in a record, by lower-case MAC. */
export type NicHashes = Readonly<Record<string, string>>;

/** Suffix for a NIC's hash if the NIC failed in the last run with the NIC. */
const failedMark = '!';

/** Returns the hashes for a new run: a failed NIC stays marked until a run succeeds for the NIC. */
export function hashesAtStart(hashes: NicHashes, before: NicHashes = {}): NicHashes {
  const failed = new Set(failedIn(before));
  return mapped(hashes, (mac, isMarked) => isMarked || failed.has(mac));
}

/** Returns the hashes after a run. A NIC without a result stayed unchanged. */
export function hashesAfter(hashes: NicHashes, { nics }: Pick<JobResult, 'nics'>): NicHashes {
  const failed = new Map(nics.map((nic) => [nic.mac.toLowerCase(), isNicFailing(nic)]));
  return mapped(hashes, (mac, isMarked) => failed.get(mac) ?? isMarked);
}

/** Returns failed NICs' MACs. */
export function failedIn(hashes: NicHashes = {}): readonly string[] {
  return Object.keys(hashes).filter((mac) => hashes[mac]?.endsWith(failedMark));
}

/** True if the last run failed, or an earlier run for a NIC that stayed unchanged since. */
export function hasFailed(record: HashedRecord): boolean {
  const hasEndedWell = record.done !== false || awaitsBoot(record);
  return !hasEndedWell || failedIn(record.nics).length > 0;
}

/** True if the last run refused NICs only for existing configuration: an adoption may succeed. */
export function isOnlyRefused(record: HashedRecord): boolean {
  const { done, reasons = [] } = record;
  return done === false && reasons.length > 0 && reasons.every(isFoundReason);
}

/** True if the reason follows a change on the NIC. Reasons without a change leave the NIC as before. */
export function isAfterChange(reason: NicReason): boolean {
  return changed.has(reason);
}

const changed: ReadonlySet<string> = new Set<NicReason>([
  'ApplyFailed',
  'VerifyFailed',
  'PersistFailed',
  'AddressDuplicate',
  'RolledBack',
  'RollbackFailed',
  'PathBypassed',
  'NodePathTaken',
  'NodeConnectivityLost',
  'FilesLeft',
]);

function awaitsBoot({ reasons = [] }: HashedRecord): boolean {
  return reasons.length > 0 && reasons.every((reason) => reason === 'AdoptedAtBoot');
}

interface HashedRecord {
  readonly done?: boolean | undefined;
  readonly reasons?: readonly string[] | undefined;
  readonly nics?: NicHashes | undefined;
}

function mapped(hashes: NicHashes, isFailed: (mac: string, isMarked: boolean) => boolean) {
  const marked = new Set(failedIn(hashes));
  return Object.fromEntries(
    Object.entries(hashes).map(([mac, text]) => {
      const hash = marked.has(mac) ? text.slice(0, -failedMark.length) : text;
      return [mac, isFailed(mac, marked.has(mac)) ? `${hash}${failedMark}` : hash];
    }),
  );
}
