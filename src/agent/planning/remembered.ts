import { ipOf } from '../../api/address.ts';
import { routingTable } from '../../api/names.ts';
import type { Snapshot } from '../snapshot.ts';
import type { AgentState } from '../state.ts';
import { type KnownNic, type NicState, presentState } from './nic-state.ts';
import { ownedBy } from './ownership.ts';
import { stateAfter, type Unit } from './unit.ts';

/** A NIC, and the rules that it shall have. */
export interface Bystander {
  readonly nic: KnownNic;
  readonly want: NicState;
}

/**
 * The NICs that a change is not about. NetworkManager sets all rules that it remembers of any profile once it takes up one of
 * its NICs: also those of NICs that have left since the boot, and of addresses that have (seen of 1.42).
 */
export function bystanders(
  units: readonly Unit[],
  state: AgentState,
  host: Snapshot,
): readonly Bystander[] {
  const inHand = new Set(units.map(({ nic }) => nic.mac));
  const present = state.nics.map((record): Bystander => {
    const belongings = ownedBy(record.mac, record, host);
    const want = presentState(host, undefined, belongings);
    return { nic: { mac: record.mac, belongings, rulesOnly: true }, want };
  });
  const gone = departed(units.reduce(stateAfter, state)).map((nic) => ({
    nic,
    want: { rules: [] },
  }));
  return [...present, ...gone].filter(({ nic }) => !inHand.has(nic.mac));
}

export interface Departed extends KnownNic {
  readonly index: number;
}

/**
 * The NICs that have left since the boot, also those that are back, with the rules that were theirs alone: number and address
 * of one may be another's by now.
 */
export function departed({ nics, left = [] }: AgentState): Departed[] {
  return left.map(({ mac, index, addresses }) => {
    const table = routingTable(index);
    const others = nics.filter((nic) => nic.table === table).flatMap((nic) => nic.addresses);
    const taken = new Set(others.map(ipOf));
    const ips = addresses.map(ipOf).filter((ip) => !taken.has(ip));
    return { mac, index, belongings: { tables: [table], ips, routes: [] }, rulesOnly: true };
  });
}
