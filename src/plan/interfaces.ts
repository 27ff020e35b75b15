import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import type { HeldNode } from '../api/node-configs-http.ts';
import { FreeNames } from './free-names.ts';
import { heldEntries, indexOfEntry } from './held-entries.ts';
import { placeNewcomers } from './newcomers.ts';
import type { Problem, Question, Removal } from './plan.ts';
import { isNewcomer } from './port-match.ts';
import { fateOf, type Place } from './removal.ts';
import type { View } from './view.ts';

/** What one node's object is to hold, and how it differs from what it holds. */
export interface InterfacePlan {
  readonly interfaces: readonly InterfaceSpec[];
  readonly confirmed: readonly Removal[];
  readonly unconfirmed: readonly Removal[];
  readonly ask: readonly Question[];
  readonly waiting: readonly string[];
  readonly problems: readonly Problem[];
  /** Ports of the server that are no NIC. */
  readonly filteredPorts: number;
}

/** Plans the NICs of one node; `held` is the object they are delivered in, if there is one already. */
export function planInterfaces(
  nodeName: string,
  place: Place,
  held: HeldNode | undefined,
  view: View,
): InterfacePlan {
  const ports = view.portsOf(place.serverId);
  const entries = heldEntries(held, ports);
  const names = new FreeNames(held);
  const fates = entries.map((entry) => fateOf(entry, place, names, view));
  const kept = fates.flatMap((fate) => ('entry' in fate ? [fate.entry] : []));
  const delivered = new Set(entries.flatMap(({ port }) => port ?? []));
  const fresh = ports.filter((p) => !delivered.has(p) && isNewcomer(p, view.input.selection));
  const { added, waiting, problems } = placeNewcomers({
    subject: `node ${nodeName}`,
    kept,
    ports: fresh,
    names,
    view,
  });
  const interfaces = [...kept, ...added].toSorted(byIndex);
  const portIds = new Set(interfaces.map(({ portId }) => portId));
  return {
    interfaces,
    confirmed: fates.flatMap((fate) => (fate.kind === 'goes' ? [fate.removal] : [])),
    unconfirmed: fates.flatMap((fate) => (fate.kind === 'unconfirmed' ? [fate.removal] : [])),
    ask: fates.flatMap((fate) => (fate.kind === 'unconfirmed' && fate.ask ? [fate.ask] : [])),
    waiting,
    problems,
    filteredPorts: ports.filter(({ id }) => !portIds.has(id)).length,
  };
}

function byIndex(a: InterfaceSpec, b: InterfaceSpec): number {
  return (
    (indexOfEntry(a) ?? Number.MAX_SAFE_INTEGER) - (indexOfEntry(b) ?? Number.MAX_SAFE_INTEGER)
  );
}
