import { counted } from '../api/counted.ts';
import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import { namedSome } from '../api/named-some.ts';
import type { ExistingNodeConfig } from '../api/node-configs-http.ts';
import { clusterOverlapOf } from './cluster-overlap.ts';
import { entryOf, type Match, matchSubnet } from './entry.ts';
import { FreeNames, indexOfEntry } from './free-names.ts';
import type { Port, Question } from './observation.ts';
import type { PortVerdict, Problem, Removal } from './plan.ts';
import { nameOf, nicVerdict, noNicVerdict, type Obstacle, obstacleOf } from './port-verdict.ts';
import { refusalOf } from './refusal.ts';
import { decideRemoval, existingEntries, type Place } from './removal.ts';
import { compareText, type View } from './view.ts';

/** Target entries for one node's object, with the differences from its current entries. */
export interface InterfacePlan {
  readonly interfaces: readonly InterfaceSpec[];
  readonly confirmed: readonly Removal[];
  readonly unconfirmed: readonly Removal[];
  readonly ask: readonly Question[];
  readonly waiting: readonly string[];
  readonly passedOver: boolean;
  readonly problems: readonly Problem[];
  /** One verdict for each port of the server. */
  readonly ports: readonly PortVerdict[];
}

/** Plans one node's NICs; `existing` is the object that delivers them, undefined: none yet. */
export function planInterfaces(
  nodeName: string,
  place: Place,
  existing: ExistingNodeConfig | undefined,
  view: View,
): InterfacePlan {
  const ports = view.portsOf(place.serverId);
  const entries = existingEntries(existing, place.serverId, view);
  const names = new FreeNames({ existing, recorded: view.recordedOf(place.serverId), ports });
  const { kept, confirmed, unconfirmed, ask, refused, nics } = fatesOf(entries, place, names, view);
  const strangers = ports.filter((port) => !entries.some((entry) => entry.port === port));
  const { added, waiting, problems, obstacles } = placeNewcomers({
    subject: `node ${nodeName}`,
    kept,
    ports: strangers.filter((port) => !obstacleOf(port, view, names.knows(port))),
    names,
    view,
  });
  const interfaces = [...kept, ...added].toSorted(byIndex);
  for (const entry of added) nics.set(entry.portId ?? '', nameOf(entry));
  return {
    interfaces,
    confirmed,
    unconfirmed,
    ask,
    waiting,
    passedOver: names.passedOver,
    problems: [...refused, ...problems],
    ports: verdictsOf(ports, { nics, obstacles, names, view }),
  };
}

/** Decides about a node's delivered NICs. */
function fatesOf(
  entries: ReturnType<typeof existingEntries>,
  place: Place,
  names: FreeNames,
  view: View,
) {
  const kept: InterfaceSpec[] = [];
  const confirmed: Removal[] = [];
  const unconfirmed: Removal[] = [];
  const ask: Question[] = [];
  const refused: Problem[] = [];
  const nics = new Map<string, string>();
  for (const entry of entries) {
    const fate = decideRemoval(entry, place, names, view);
    if (fate.kind === 'goes') {
      confirmed.push(fate.removal);
      continue;
    }
    kept.push(fate.entry);
    nics.set(entry.port?.id ?? '', nameOf(fate.entry));
    if (fate.kind === 'unconfirmed') unconfirmed.push(fate.removal);
    if (fate.kind === 'unconfirmed' && fate.ask) ask.push(fate.ask);
    if (fate.kind === 'stays' && fate.problem) refused.push(fate.problem);
  }
  return { kept, confirmed, unconfirmed, ask, refused, nics };
}

interface Outcome {
  /** NIC names by port id; '' for missing ports. */
  readonly nics: ReadonlyMap<string, string>;
  /** Reasons for undelivered ports, by port id. */
  readonly obstacles: ReadonlyMap<string, Obstacle>;
  readonly names: FreeNames;
  readonly view: View;
}

function verdictsOf(
  ports: readonly Port[],
  { nics, obstacles, names, view }: Outcome,
): PortVerdict[] {
  return ports.map((port) => {
    const nic = nics.get(port.id);
    if (nic !== undefined) return nicVerdict(port, nic, view);
    const why = obstacles.get(port.id) ?? obstacleOf(port, view, names.knows(port)) ?? notPlaced;
    return noNicVerdict(port, why, view);
  });
}

/** The NIC is removed by this plan, and its port may become a NIC in the next plan. */
const notPlaced: Obstacle = {
  reason: 'Waiting',
  message: 'the former NIC of the port is removed first',
};

function byIndex(a: InterfaceSpec, b: InterfaceSpec): number {
  return (
    (indexOfEntry(a) ?? Number.MAX_SAFE_INTEGER) - (indexOfEntry(b) ?? Number.MAX_SAFE_INTEGER)
  );
}

/** New NICs for one node. */
interface Newcomers {
  readonly added: readonly InterfaceSpec[];
  /** Ports that wait for a free name on the node. */
  readonly waiting: readonly string[];
  readonly problems: readonly Problem[];
  /** Reasons for undelivered ports, by port id. */
  readonly obstacles: ReadonlyMap<string, Obstacle>;
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
 * Assigns slots to new ports in the order selector, MAC, port id, up to the node's NIC limit minus delivered NICs. A
 * port that must wait does not delay other ports but keeps its slot: the order must not depend on read failures.
 * Invalid ports get no slot.
 */
function placeNewcomers({ subject, kept, ports, names, view }: NewcomerOptions): Newcomers {
  if (ports.length === 0) return noNewcomers;
  const added: InterfaceSpec[] = [];
  const waiting: string[] = [];
  const problems: Problem[] = [];
  const over: Candidate[] = [];
  const obstacles = new Map<string, Obstacle>();
  let room = Math.max(0, view.input.selection.maxInterfaces - kept.length);
  for (const candidate of inOrder(ports, view)) {
    if (room === 0) {
      over.push(candidate);
      obstacles.set(candidate.port.id, overLimit(view));
      continue;
    }
    room--;
    const { port, match } = candidate;
    const index = names.next(port);
    if (index === undefined) {
      waiting.push(port.id);
      obstacles.set(port.id, waitingForName);
      continue;
    }
    const built = entryOf(port, match, index, view);
    if (built.kind === 'missing') {
      problems.push(unread(port, built.what));
      obstacles.set(port.id, { reason: 'NetworkUnread', message: built.what });
      continue;
    }
    const refusal =
      refusalOf(port.id, [...kept, ...added], built.entry) ??
      clusterOverlapOf(port.id, built.entry, view.input.clusterNetworks);
    if (refusal) {
      problems.push(refusal);
      obstacles.set(port.id, { reason: refusal.reason, message: refusal.message });
      room++;
      continue;
    }
    names.take(index);
    added.push(built.entry);
  }
  if (over.length > 0) problems.push(tooMany(subject, over, view));
  return { added, waiting, problems, obstacles };
}

const noNewcomers: Newcomers = { added: [], waiting: [], problems: [], obstacles: new Map() };

const waitingForName: Obstacle = {
  reason: 'WaitingForName',
  message: 'each name from multinic0 to multinic9 is assigned, or still in use on the node',
};

function overLimit({ input }: View): Obstacle {
  const { maxInterfaces } = input.selection;
  const message = `the node already has ${counted(maxInterfaces, 'NIC')}, the limit of spec.settings.maxInterfaces`;
  return { reason: 'InterfaceLimitExceeded', message };
}

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
  const ids = over.map(({ port }) => port.id);
  return {
    reason: 'InterfaceLimitExceeded',
    subject,
    field: 'spec.settings.maxInterfaces',
    value: String(limit),
    message: `${subject} has ${counted(over.length, 'port')} above spec.settings.maxInterfaces (${limit}); not delivered: ${namedSome(ids, listedPorts)}; detach ports, or raise the limit (at most 10)`,
  };
}

/** Ports listed per message: a server may have hundreds. */
const listedPorts = 10;
