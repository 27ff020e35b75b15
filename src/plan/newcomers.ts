import { acceptInterfaces } from '../api/accept-interface.ts';
import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import { entryOf } from './entry.ts';
import type { FreeNames } from './free-names.ts';
import type { Port } from './observation.ts';
import type { Problem } from './plan.ts';
import { type Match, matchSubnet } from './port-match.ts';
import { compareText } from './text-order.ts';
import type { View } from './view.ts';

/** New NICs of one node. */
export interface Newcomers {
  readonly added: readonly InterfaceSpec[];
  /** Ports that wait until a name is free on the node. */
  readonly waiting: readonly string[];
  readonly problems: readonly Problem[];
}

interface Candidate {
  readonly port: Port;
  readonly match: Match;
}

export interface NewcomerOptions {
  readonly subject: string;
  readonly kept: readonly InterfaceSpec[];
  readonly ports: readonly Port[];
  readonly names: FreeNames;
  readonly view: View;
}

/**
 * Gives new ports a place: in the order selector, MAC, port id, as many as the node may have beside those that are
 * delivered already. One that cannot be delivered yet never holds up the others.
 */
export function placeNewcomers({ subject, kept, ports, names, view }: NewcomerOptions): Newcomers {
  if (ports.length === 0) return nobody;
  const added: InterfaceSpec[] = [];
  const waiting: string[] = [];
  const problems: Problem[] = [];
  const room = Math.max(0, view.input.selection.maxInterfaces - kept.length);
  const candidates = inOrder(ports, view);
  for (const { port, match } of candidates.slice(0, room)) {
    const index = names.next(port);
    if (index === undefined) {
      waiting.push(port.id);
      continue;
    }
    const built = entryOf(port, match, index, view);
    const problem =
      built.kind === 'missing'
        ? unread(port, built.what)
        : refusal([...kept, ...added], built.entry);
    if (problem) problems.push(problem);
    if (built.kind === 'missing' || problem) continue;
    names.take(index);
    added.push(built.entry);
  }
  const over = candidates.slice(room);
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

/** Why the node's other NICs rule this one out: an entry that Viola refuses would keep the whole node back. */
function refusal(others: readonly InterfaceSpec[], entry: InterfaceSpec): Problem | undefined {
  const rejection = acceptInterfaces([...others, entry]).rejected.find(
    ({ position }) => position === others.length,
  );
  if (!rejection) return undefined;
  const { field, message } = rejection;
  return {
    reason: 'InvalidPort',
    subject: `port ${entry.portId}`,
    field,
    message: `port ${entry.portId} cannot be a NIC of its node: ${field} ${message}`,
  };
}

function tooMany(subject: string, over: readonly Candidate[], view: View): Problem {
  const limit = view.input.selection.maxInterfaces;
  const ids = over.map(({ port }) => port.id).join(', ');
  return {
    reason: 'InterfaceLimitExceeded',
    subject,
    field: 'spec.settings.maxInterfaces',
    value: String(limit),
    message: `${subject} has ${over.length} port(s) more than the ${limit} NICs it may have; not delivered: ${ids}`,
  };
}
