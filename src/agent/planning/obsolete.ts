import { interfaceName, routingTable, rulePriority } from '../../api/names.ts';
import { linksWithMac, type Snapshot } from '../snapshot.ts';
import type { AgentState, NicRecord } from '../state.ts';
import type { PlanInput } from './candidates.ts';
import { recordOf } from './ownership.ts';
import type { Target } from './unit.ts';

/** A NIC of which nothing of ours shall be left. */
export interface Obsolete {
  readonly record: NicRecord;
  readonly target: Target;
}

/** The NICs of ours that the request no longer has, or all of them when it asks for a clean-up. */
export function obsolete({ request, state, host }: PlanInput): Obsolete[] {
  const { action, interfaces } = request;
  const all = action === 'cleanup';
  const wanted = new Map(interfaces.map((entry) => [entry.mac, entry]));
  // An entry that cannot be used says nothing about what its NIC shall be: it is not a removal.
  const kept = new Set(request.keep);
  const recorded = [...state.nics, ...returned(state, host)].filter(
    ({ mac }) => all || !(wanted.has(mac) || kept.has(mac)),
  );
  const known = new Set(recorded.map(({ mac }) => mac));
  const inherited = interfaces.flatMap((entry) => {
    if (!all || known.has(entry.mac)) return [];
    return recordOf(entry.mac, entry, state, host) ?? [];
  });
  return [...recorded, ...inherited].map((record) => {
    const portId = wanted.get(record.mac)?.portId;
    const { mac, index } = record;
    return { record, target: { mac, index, ...(portId ? { portId } : {}) } };
  });
}

/**
 * NICs that have left since the boot and are back under our name: what netplan made at the boot for udev and networkd lasts
 * until the next one, and they name a NIC that is plugged and set it up by that.
 */
function returned({ nics, left = [] }: AgentState, host: Snapshot): NicRecord[] {
  const ours = new Set(nics.map(({ mac }) => mac));
  const isBack = ({ mac, index }: (typeof left)[number]) =>
    !ours.has(mac) && linksWithMac(host, mac).some(({ name }) => name === interfaceName(index));
  return left.filter(isBack).map((nic) => ({
    ...nic,
    originalName: nic.originalName ?? '',
    table: routingTable(nic.index),
    priority: rulePriority(nic.index),
    files: [],
  }));
}
