import { familyOf, hostPrefix } from '../../api/address.ts';
import type { JobRequest } from '../../api/job.ts';
import { routingTable, rulePriority } from '../../api/names.ts';
import { linkOf } from '../identity.ts';
import type { Snapshot } from '../snapshot.ts';
import type { AgentState, NicRecord } from '../state.ts';
import { leasedOn } from './leases.ts';
import { presentState, type RecordedNic } from './nic-state.ts';
import {
  allOf,
  type Belongings,
  ownedBy,
  type Ruled,
  reattachedNics,
  recordOf,
} from './ownership.ts';
import { removalRefusal } from './permission.ts';
import type { Refusal } from './refusals.ts';
import { type DetachedNic, detachedNics } from './remembered.ts';
import type { Target } from './unit.ts';

/** NIC to release, with all managed state to remove. */
export interface Obsolete {
  readonly record: NicRecord;
  readonly nic: RecordedNic;
  readonly target: Target;
}

/** Managed NIC that stays without a request entry, because the request does not permit its removal. */
interface BlockedRemoval {
  readonly record: NicRecord;
  readonly target: Target;
  readonly refusal: Refusal;
}

/** Managed NICs missing in a request. */
interface UnlistedNics {
  readonly released: readonly Obsolete[];
  readonly blocked: readonly BlockedRemoval[];
}

interface UnlistedInput {
  readonly request: JobRequest;
  readonly state: AgentState;
  readonly host: Snapshot;
}

/** Returns managed NICs missing in the request, or all managed NICs for a clean-up, by permission to leave. */
export function unlistedNics(input: UnlistedInput): UnlistedNics {
  const { request, state, host } = input;
  const portIds = new Map(request.interfaces.map(({ mac, portId }) => [mac, portId]));
  const targetOf = ({ mac, index }: NicRecord): Target => {
    const portId = portIds.get(mac);
    return { mac, index, ...(portId ? { portId } : {}) };
  };
  const records = unlistedRecords(input);
  const blocked = records.flatMap((record) => {
    const refusal = removalRefusal(record.mac, request, host);
    return refusal ? [{ record, target: targetOf(record), refusal }] : [];
  });
  const staying = blocked.map(({ record }) => record);
  const managed = [...state.nics, ...staying];
  const released = records
    .filter((record) => !staying.includes(record))
    .map((record) => {
      const { mac } = record;
      return { record, nic: { mac, belongings: releasedFrom(record, host, managed) } };
    });
  const macs = new Set(records.map(({ mac }) => mac));
  // Rules for absent NICs go whatever the request: they would conflict with a NIC reusing the index.
  const leftovers = rulesOfDetachedNics(state, host, managed).filter(
    ({ nic }) => !macs.has(nic.mac),
  );
  return {
    released: [...released, ...leftovers].map((nic) => ({ ...nic, target: targetOf(nic.record) })),
    blocked,
  };
}

/**
 * Returns everything a released NIC loses. On an adopted NIC also leases: the foreign configuration may act again
 * already, and sets its own state after the release.
 */
function releasedFrom(record: NicRecord, host: Snapshot, managed: readonly Ruled[]): Belongings {
  const owned = ownedBy(record.mac, record, host, managed);
  const link = record.adopted && linkOf(host, record.mac);
  return link ? allOf([owned, leasedOn(link.name, host)]) : owned;
}

/** Returns records of NICs that stay although the request does not list them. */
export function blockedRecords(input: UnlistedInput): NicRecord[] {
  return unlistedNics(input).blocked.map(({ record }) => record);
}

function unlistedRecords({ request, state, host }: UnlistedInput): NicRecord[] {
  const { action, interfaces } = request;
  const all = action === 'cleanup';
  const wanted = new Set(interfaces.map(({ mac }) => mac));
  // An unusable entry (`keep`) does not describe its NIC, and therefore is no removal.
  const keptMacs = new Set(request.keep);
  const isUnwanted = ({ mac }: { readonly mac: string }) =>
    all || !(wanted.has(mac) || keptMacs.has(mac));
  const recorded = [...state.nics, ...reattachedNics(state, host)].filter(isUnwanted);
  const known = new Set(recorded.map(({ mac }) => mac));
  const inherited = interfaces.flatMap((entry) => {
    if (!all || known.has(entry.mac)) return [];
    return recordOf(entry.mac, entry, state, host) ?? [];
  });
  return [...recorded, ...inherited];
}

/** Returns detached NICs with rules present again. */
function rulesOfDetachedNics(
  state: AgentState,
  host: Snapshot,
  managed: readonly Ruled[],
): Pick<Obsolete, 'record' | 'nic'>[] {
  return detachedNics(state, host, managed)
    .filter((nic) => presentState(host, undefined, nic.belongings).rules.length > 0)
    .map((nic) => ({ nic, record: recordOfDetachedNic(nic) }));
}

function recordOfDetachedNic({ mac, index, belongings }: DetachedNic): NicRecord {
  return {
    mac,
    index,
    originalName: '',
    addresses: belongings.ips.map((ip) => `${ip}/${hostPrefix(familyOf(ip))}`),
    table: routingTable(index),
    priority: rulePriority(index),
    files: [],
  };
}
