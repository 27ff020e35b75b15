import { sha256 } from '../sha256.ts';
import type { NicRecord } from '../state.ts';
import { type Candidate, candidatesOf, type PlanInput, refusedNic } from './candidates.ts';
import { desiredState } from './desired.ts';
import { diffNic } from './diff.ts';
import { writeChanges } from './files.ts';
import type { LinkState } from './nic-state.ts';
import { heldOf } from './ownership.ts';
import { presentState } from './present-state.ts';
import { type FileChange, isDone, type Plan, type RefusedNic, type Unit } from './unit.ts';

/** Names that are already given away in a plan. */
interface Taken {
  readonly names: ReadonlySet<string>;
  readonly paths: ReadonlySet<string>;
}

/**
 * What is to be done so that the host has the NICs of the request. NICs that must not be touched are refused one by one;
 * one that is as it shall be yields a unit without operations.
 */
export function planApply(input: PlanInput): Plan {
  const { host } = input;
  const { candidates, refused } = candidatesOf(input);
  const taken = {
    names: new Set(candidates.map(({ desired }) => desired.name)),
    paths: new Set(candidates.map(({ path }) => path)),
  };
  const units: Unit[] = [];
  const inUse: RefusedNic[] = [];
  for (const candidate of candidates) {
    const unit = unitOf(input, candidate, taken);
    if (isDone(unit) || !candidate.inUse) units.push(unit);
    else inUse.push(refusedNic(host, candidate.entry, candidate.inUse));
  }
  return { units, refused: [...refused, ...inUse] };
}

function unitOf({ host, backend, bootId }: PlanInput, candidate: Candidate, taken: Taken): Unit {
  const { entry, link, belongings, desired } = candidate;
  const before = presentState(host, link, belongings);
  const after = desiredState(desired);
  const evict = link.name !== desired.name && taken.names.has(link.name);
  const file = backend.render(desired);
  const files = writeChanges(host, entry.mac, file, taken.paths);
  return {
    action: 'apply',
    target: {
      mac: entry.mac,
      index: entry.index,
      ...(entry.portId ? { portId: entry.portId } : {}),
    },
    index: desired.index,
    nic: { mac: entry.mac, belongings },
    before,
    after,
    change: diffNic(before, after, evict ? { evictTo: `mntmp${link.index}` } : {}),
    files,
    desired,
    record: {
      ...recordAfter(candidate, before.link, files[0]),
      boot: { bootId, addresses: heldOf(entry.mac, candidate.record, host) },
    },
  };
}

function recordAfter(
  { entry, link, record, desired }: Candidate,
  before: LinkState | undefined,
  file: FileChange,
): NicRecord {
  const original = record ? record.original : originalOf(before);
  return {
    mac: entry.mac,
    index: desired.index,
    originalName: record?.originalName ?? link.name,
    addresses: [...desired.addresses],
    table: desired.table,
    priority: desired.rules[0]?.priority ?? 0,
    files: [
      {
        path: file.path,
        sha256: sha256(file.after ?? ''),
      },
    ],
    ...(original ? { original } : {}),
  };
}

/** What the NIC was like before it was ours; its addresses and routes were not. */
function originalOf(before: LinkState | undefined): NicRecord['original'] {
  if (!before) return undefined;
  const { mtu, up, addressMode, acceptRa } = before;
  return {
    mtu,
    up,
    ...(addressMode === undefined ? {} : { addrGenMode: addressMode }),
    ...(acceptRa === undefined ? {} : { acceptRa }),
  };
}
