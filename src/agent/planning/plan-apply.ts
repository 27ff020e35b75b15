import type { Host } from '../host.ts';
import { sha256 } from '../sha256.ts';
import type { NicRecord } from '../state.ts';
import { type Candidate, candidatesOf, type PlanInput, refusedNic } from './candidates.ts';
import { desiredState } from './desired.ts';
import { diffNic } from './diff.ts';
import { writeChanges } from './files.ts';
import { presentState } from './present-state.ts';
import { refuseName } from './refuse.ts';
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
  const { host, backend } = input;
  const { candidates, refused } = candidatesOf(input);
  const named = refuseNames(host, candidates);
  const taken = {
    names: new Set(named.accepted.map(({ desired }) => desired.name)),
    paths: new Set(named.accepted.map(({ desired }) => backend.render(desired).path)),
  };
  const units: Unit[] = [];
  const inUse: RefusedNic[] = [];
  for (const candidate of named.accepted) {
    const unit = unitOf(input, candidate, taken);
    if (isDone(unit) || !candidate.inUse) units.push(unit);
    else inUse.push(refusedNic(host, candidate.entry, candidate.inUse));
  }
  return { units, refused: [...refused, ...named.refused, ...inUse] };
}

/** Refuses those whose name another link keeps. A NIC that is refused keeps its own name, so others may follow it. */
function refuseNames(host: Host, candidates: readonly Candidate[]) {
  const refused: RefusedNic[] = [];
  let accepted = candidates;
  for (;;) {
    const moving = accepted.filter(({ link, desired }) => link.name !== desired.name);
    const leaving = new Set(moving.map(({ link }) => link.name));
    const blocked = accepted.flatMap((candidate) => {
      const { entry, link, desired } = candidate;
      const refusal = refuseName(host, link, desired.name, leaving);
      return refusal ? [{ candidate, nic: refusedNic(host, entry, refusal) }] : [];
    });
    if (blocked.length === 0) return { accepted, refused };
    refused.push(...blocked.map(({ nic }) => nic));
    accepted = accepted.filter((item) => blocked.every(({ candidate }) => candidate !== item));
  }
}

function unitOf({ host, backend }: PlanInput, candidate: Candidate, taken: Taken): Unit {
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
    record: recordAfter(candidate, files[0]),
  };
}

function recordAfter({ entry, link, record, desired }: Candidate, file: FileChange): NicRecord {
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
  };
}
