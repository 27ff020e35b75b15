import { routingTable } from '../../api/names.ts';
import type { Snapshot } from '../snapshot.ts';
import type { AgentState, NicRecord } from '../state.ts';
import { type NicState, presentState, type RecordedNic } from './nic-state.ts';
import {
  allOf,
  keysOf,
  ownedBy,
  type Ruled,
  reattachedNics,
  withoutReassignedRules,
} from './ownership.ts';
import { stateAfter, type Unit } from './unit.ts';

/** NIC outside a change, with the rules to keep. */
export interface UnaffectedNic {
  readonly nic: RecordedNic;
  readonly want: NicState;
}

/** NICs possibly missing in state.json. */
interface UnrecordedNics {
  /** NICs with an unfinished change. */
  readonly claims?: readonly NicRecord[];
  /** NICs with a blocked removal. */
  readonly blocked?: readonly NicRecord[];
}

/**
 * Returns NICs outside a change. NetworkManager 1.42 restores all remembered rules from every profile when activating a
 * NIC: also rules for NICs and addresses removed since boot.
 */
export function unaffectedNics(
  units: readonly Unit[],
  state: AgentState,
  host: Snapshot,
  { claims = [], blocked = [] }: UnrecordedNics = {},
): readonly UnaffectedNic[] {
  const changing = new Set(units.map(({ nic }) => nic.mac));
  const recorded = new Set(state.nics.map(({ mac }) => mac));
  const staying = [...state.nics, ...blocked.filter(({ mac }) => !recorded.has(mac))];
  // A change may roll back: former state is owned as much as planned state.
  const nics = [...staying, ...units.reduce(stateAfter, state).nics, ...claims];
  const present = staying.map((record): UnaffectedNic => {
    const { mac } = record;
    const belongings = ownedBy(mac, record, host, nics);
    const want = presentState(host, undefined, belongings);
    return { nic: { mac, belongings, rulesOnly: true }, want };
  });
  const macs = new Set(blocked.map(({ mac }) => mac));
  const detached = detachedNics(state, host, nics)
    .filter(({ mac }) => !macs.has(mac))
    .map((nic) => ({ nic, want: { rules: [] } }));
  return [...present, ...detached].filter(({ nic }) => !changing.has(nic.mac));
}

export interface DetachedNic extends RecordedNic {
  readonly index: number;
}

/**
 * Returns NICs detached since boot and not reattached, with rules they alone owned: a NIC in `ours` may have their
 * index and address by now.
 */
export function detachedNics(
  state: AgentState,
  host: Snapshot,
  ours: readonly Ruled[] = state.nics,
): DetachedNic[] {
  const { nics, left = [] } = state;
  const attached = new Set([...nics, ...reattachedNics(state, host)].map(({ mac }) => mac));
  const detached = new Map(left.map(({ mac, index }) => [mac, index]));
  for (const mac of attached) detached.delete(mac);
  return [...detached].map(([mac, index]) => {
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
