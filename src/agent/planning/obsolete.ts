import { familyOf, hostPrefix } from '../../api/address.ts';
import { routingTable, rulePriority } from '../../api/names.ts';
import type { Snapshot } from '../snapshot.ts';
import type { AgentState, NicRecord } from '../state.ts';
import type { PlanInput } from './candidates.ts';
import { presentState, type RecordedNic } from './nic-state.ts';
import { ownedBy, recordOf, returned } from './ownership.ts';
import { type DetachedNic, detachedNics } from './remembered.ts';
import type { Target } from './unit.ts';

/** A NIC of which nothing of ours shall be left. */
export interface Obsolete {
  readonly record: NicRecord;
  readonly nic: RecordedNic;
  readonly target: Target;
}

/** The NICs of ours that the request no longer has, or all of them when it asks for a clean-up. */
export function obsolete({
  request,
  state,
  host,
}: Pick<PlanInput, 'request' | 'state' | 'host'>): Obsolete[] {
  const { action, interfaces } = request;
  const all = action === 'cleanup';
  const wanted = new Map(interfaces.map((entry) => [entry.mac, entry]));
  // An entry that cannot be used says nothing about what its NIC shall be: it is not a removal.
  const kept = new Set(request.keep);
  const isUnwanted = ({ mac }: { readonly mac: string }) =>
    all || !(wanted.has(mac) || kept.has(mac));
  const recorded = [...state.nics, ...returned(state, host)].filter(isUnwanted);
  const known = new Set(recorded.map(({ mac }) => mac));
  const inherited = interfaces.flatMap((entry) => {
    if (!all || known.has(entry.mac)) return [];
    return recordOf(entry.mac, entry, state, host) ?? [];
  });
  const there = [...recorded, ...inherited].map((record) => {
    const { mac } = record;
    return { record, nic: { mac, belongings: ownedBy(mac, record, host, state.nics) } };
  });
  const macs = new Set(there.map(({ nic }) => nic.mac));
  // No NIC has them, whatever is asked for: in the way of one that has the number by now they are all the same.
  const gone = rulesOfDeparted(state, host).filter(({ nic }) => !macs.has(nic.mac));
  return [...there, ...gone].map((nic) => {
    const { mac, index } = nic.record;
    const portId = wanted.get(mac)?.portId;
    return { ...nic, target: { mac, index, ...(portId ? { portId } : {}) } };
  });
}

/** NICs that have left, and of which rules are there again. */
function rulesOfDeparted(state: AgentState, host: Snapshot): Pick<Obsolete, 'record' | 'nic'>[] {
  return detachedNics(state, host)
    .filter((nic) => presentState(host, undefined, nic.belongings).rules.length > 0)
    .map((nic) => ({ nic, record: recordOfDeparted(nic) }));
}

function recordOfDeparted({ mac, index, belongings }: DetachedNic): NicRecord {
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
