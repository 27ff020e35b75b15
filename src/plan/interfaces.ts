import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import type { HeldNode } from '../api/node-configs-http.ts';
import { FreeNames } from './free-names.ts';
import { heldEntries, indexOfEntry } from './held-entries.ts';
import { placeNewcomers } from './newcomers.ts';
import type { Port, Question } from './observation.ts';
import type { Problem, Removal } from './plan.ts';
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
  readonly passedOver: boolean;
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
  const names = new FreeNames({ held, recorded: view.recordedOf(place.serverId), ports });
  const interfaces: InterfaceSpec[] = [];
  const confirmed: Removal[] = [];
  const unconfirmed: Removal[] = [];
  const ask: Question[] = [];
  for (const entry of entries) {
    const fate = fateOf(entry, place, names, view);
    if (fate.kind === 'goes') confirmed.push(fate.removal);
    else interfaces.push(fate.entry);
    if (fate.kind === 'unconfirmed') unconfirmed.push(fate.removal);
    if (fate.kind === 'unconfirmed' && fate.ask) ask.push(fate.ask);
  }
  const strangers = ports.filter((port) => !entries.some((entry) => entry.port === port));
  const { added, waiting, problems } = placeNewcomers({
    subject: `node ${nodeName}`,
    kept: interfaces,
    ports: strangers.filter((port) => isNewcomer(port, view.input.selection, names.knows(port))),
    names,
    view,
  });
  interfaces.push(...added);
  interfaces.sort(byIndex);
  const isNic = ({ id }: Port): boolean => interfaces.some(({ portId }) => portId === id);
  const filteredPorts = ports.reduce((count, port) => count + (isNic(port) ? 0 : 1), 0);
  return {
    interfaces,
    confirmed,
    unconfirmed,
    ask,
    waiting,
    passedOver: names.passedOver,
    problems,
    filteredPorts,
  };
}

function byIndex(a: InterfaceSpec, b: InterfaceSpec): number {
  return (
    (indexOfEntry(a) ?? Number.MAX_SAFE_INTEGER) - (indexOfEntry(b) ?? Number.MAX_SAFE_INTEGER)
  );
}
