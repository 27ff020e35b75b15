import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import type { HeldNode } from '../api/node-configs-http.ts';
import { entryOf, isNewcomer, type Match, matchSubnet } from './entry.ts';
import { FreeNames, indexOfEntry } from './free-names.ts';
import type { Port, Question } from './observation.ts';
import type { Problem, Removal } from './plan.ts';
import { refusalOf } from './refusal.ts';
import { fateOf, heldEntries, type Place } from './removal.ts';
import { compareText, type View } from './view.ts';

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
  const refused: Problem[] = [];
  for (const entry of entries) {
    const fate = fateOf(entry, place, names, view);
    if (fate.kind === 'goes') confirmed.push(fate.removal);
    else interfaces.push(fate.entry);
    if (fate.kind === 'unconfirmed') unconfirmed.push(fate.removal);
    if (fate.kind === 'unconfirmed' && fate.ask) ask.push(fate.ask);
    if (fate.kind === 'stays' && fate.problem) refused.push(fate.problem);
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
    problems: [...refused, ...problems],
    filteredPorts,
  };
}

function byIndex(a: InterfaceSpec, b: InterfaceSpec): number {
  return (
    (indexOfEntry(a) ?? Number.MAX_SAFE_INTEGER) - (indexOfEntry(b) ?? Number.MAX_SAFE_INTEGER)
  );
}

/** New NICs of one node. */
interface Newcomers {
  readonly added: readonly InterfaceSpec[];
  /** Ports that wait until a name is free on the node. */
  readonly waiting: readonly string[];
  readonly problems: readonly Problem[];
}

interface Candidate {
  readonly port: Port;
  readonly match: Match;
}

interface NewcomerOptions {
  readonly subject: string;
  readonly kept: readonly InterfaceSpec[];
  readonly ports: readonly Port[];
  readonly names: FreeNames;
  readonly view: View;
}

/**
 * Gives new ports a place: in the order selector, MAC, port id, as many as the node may have beside those that are
 * delivered already. One that cannot be delivered yet never holds up the others, but keeps its place among them: who comes
 * first must not depend on what could be read when. One that can be no NIC has none.
 */
function placeNewcomers({ subject, kept, ports, names, view }: NewcomerOptions): Newcomers {
  if (ports.length === 0) return nobody;
  const added: InterfaceSpec[] = [];
  const waiting: string[] = [];
  const problems: Problem[] = [];
  const over: Candidate[] = [];
  let room = Math.max(0, view.input.selection.maxInterfaces - kept.length);
  for (const candidate of inOrder(ports, view)) {
    if (room === 0) {
      over.push(candidate);
      continue;
    }
    room--;
    const { port, match } = candidate;
    const index = names.next(port);
    if (index === undefined) {
      waiting.push(port.id);
      continue;
    }
    const built = entryOf(port, match, index, view);
    if (built.kind === 'missing') {
      problems.push(unread(port, built.what));
      continue;
    }
    const refusal = refusalOf(port.id, [...kept, ...added], built.entry);
    if (refusal) {
      problems.push(refusal);
      room++;
      continue;
    }
    names.take(index);
    added.push(built.entry);
  }
  if (over.length > 0) problems.push(tooMany(subject, over, view));
  return { added, waiting, problems };
}

const nobody: Newcomers = { added: [], waiting: [], problems: [] };

function inOrder(ports: readonly Port[], view: View): Candidate[] {
  const candidates = ports.flatMap((port) => {
    const match = matchSubnet(port, view);
    return match.kind === 'match' ? [{ port, match }] : [];
  });
  return candidates.toSorted(
    (a, b) =>
      a.match.rank - b.match.rank ||
      compareText(a.port.macAddress.toLowerCase(), b.port.macAddress.toLowerCase()) ||
      compareText(a.port.id, b.port.id),
  );
}

function unread(port: Port, what: string): Problem {
  const message = `port ${port.id} is not delivered yet: ${what}`;
  return { reason: 'NeutronPortError', subject: `port ${port.id}`, message };
}

function tooMany(subject: string, over: readonly Candidate[], view: View): Problem {
  const limit = view.input.selection.maxInterfaces;
  const ids = over.slice(0, shownPorts).map(({ port }) => port.id);
  const rest = over.length > shownPorts ? ` and ${over.length - shownPorts} more` : '';
  return {
    reason: 'InterfaceLimitExceeded',
    subject,
    field: 'spec.settings.maxInterfaces',
    value: String(limit),
    message: `${subject} has ${over.length} port(s) more than the ${limit} NICs it may have; not delivered: ${ids.join(', ')}${rest}`,
  };
}

/** A server may have hundreds of ports, and a message has its limits. */
const shownPorts = 10;
