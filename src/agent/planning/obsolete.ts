import { familyOf, hostPrefix } from '../../api/address.ts';
import { routingTable, rulePriority } from '../../api/names.ts';
import type { Snapshot } from '../snapshot.ts';
import type { AgentState, NicRecord } from '../state.ts';
import type { PlanInput } from './candidates.ts';
import { presentState, type RecordedNic } from './nic-state.ts';
import { ownedBy, reattachedNics, recordOf } from './ownership.ts';
import { type DetachedNic, detachedNics } from './remembered.ts';
import type { Target } from './unit.ts';

/** NIC to release, with all managed state to remove. */
export interface Obsolete {
  readonly record: NicRecord;
  readonly nic: RecordedNic;
  readonly target: Target;
}

/** Returns managed NICs missing in the request; for action cleanup, all managed NICs. */
export function obsolete({
  request,
  state,
  host,
}: Pick<PlanInput, 'request' | 'state' | 'host'>): Obsolete[] {
  const { action, interfaces } = request;
  const all = action === 'cleanup';
  const wanted = new Map(interfaces.map((entry) => [entry.mac, entry]));
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
  const released = [...recorded, ...inherited].map((record) => {
    const { mac } = record;
    return { record, nic: { mac, belongings: ownedBy(mac, record, host, state.nics) } };
  });
  const macs = new Set(released.map(({ nic }) => nic.mac));
  // Rules for absent NICs go whatever the request: they would conflict with a NIC reusing the index.
  const leftovers = rulesOfDetachedNics(state, host).filter(({ nic }) => !macs.has(nic.mac));
  return [...released, ...leftovers].map((nic) => {
    const { mac, index } = nic.record;
    const portId = wanted.get(mac)?.portId;
    return { ...nic, target: { mac, index, ...(portId ? { portId } : {}) } };
  });
}

/** Returns detached NICs with rules present again. */
function rulesOfDetachedNics(
  state: AgentState,
  host: Snapshot,
): Pick<Obsolete, 'record' | 'nic'>[] {
  return detachedNics(state, host)
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
