import { routingTable } from '../../api/names.ts';
import type { Snapshot } from '../snapshot.ts';
import type { AgentState, NicRecord } from '../state.ts';
import { type NicState, presentState, type RecordedNic } from './nic-state.ts';
import {
  allOf,
  keysOf,
  ownedBy,
  type Ruled,
  returned,
  withoutReassignedRules,
} from './ownership.ts';
import { stateAfter, type Unit } from './unit.ts';

/** A NIC, and the rules that it shall have. */
export interface UnaffectedNic {
  readonly nic: RecordedNic;
  readonly want: NicState;
}

/**
 * The NICs that a change is not about. NetworkManager sets all rules that it remembers of any profile once it takes up one of
 * its NICs: also those of NICs that have left since the boot, and of addresses that have (seen of 1.42).
 */
export function unaffectedNics(
  units: readonly Unit[],
  state: AgentState,
  host: Snapshot,
  claims: readonly NicRecord[] = [],
): readonly UnaffectedNic[] {
  const inHand = new Set(units.map(({ nic }) => nic.mac));
  // A change may fail and be undone: what a NIC had is as much its own as what it is to have.
  const nics = [...state.nics, ...units.reduce(stateAfter, state).nics, ...claims];
  const present = state.nics.map((record): UnaffectedNic => {
    const { mac } = record;
    const belongings = ownedBy(mac, record, host, nics);
    const want = presentState(host, undefined, belongings);
    return { nic: { mac, belongings, rulesOnly: true }, want };
  });
  const gone = detachedNics(state, host, nics).map((nic) => ({ nic, want: { rules: [] } }));
  return [...present, ...gone].filter(({ nic }) => !inHand.has(nic.mac));
}

export interface DetachedNic extends RecordedNic {
  readonly index: number;
}

/**
 * The NICs that have left since the boot and are not back as ours, with the rules that were theirs alone: number and address
 * of one may by now be another's of `ours`.
 */
export function detachedNics(
  state: AgentState,
  host: Snapshot,
  ours: readonly Ruled[] = state.nics,
): DetachedNic[] {
  const { nics, left = [] } = state;
  const back = new Set([...nics, ...returned(state, host)].map(({ mac }) => mac));
  const gone = new Map(left.map(({ mac, index }) => [mac, index]));
  for (const mac of back) gone.delete(mac);
  return [...gone].map(([mac, index]) => {
    const former = left
      .filter((nic) => nic.mac === mac)
      .map(({ addresses, index: number }) => keysOf({ addresses, table: routingTable(number) }));
    return {
      mac,
      index,
      belongings: withoutReassignedRules(mac, allOf(former), ours),
      rulesOnly: true,
    };
  });
}
