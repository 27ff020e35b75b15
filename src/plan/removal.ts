import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import type { ExistingNodeConfig } from '../api/node-configs-http.ts';
import type { RemovalBasis } from '../api/removals.ts';
import { isSameJson } from '../api/same-json.ts';
import { entryOf, isAllowedStatus, type Match, matchSubnet } from './entry.ts';
import { type FreeNames, indexOfEntry } from './free-names.ts';
import { isPlugged, type MissingPortState, type Port, type Question } from './observation.ts';
import type { Problem, Removal, RemovalCause } from './plan.ts';
import { refusalOf } from './refusal.ts';
import type { View } from './view.ts';

/** What becomes of a delivered NIC. */
type Fate =
  /** `problem`: why it stays as it is, and not as its port is now. */
  | { readonly kind: 'stays'; readonly entry: InterfaceSpec; readonly problem?: Problem }
  | { readonly kind: 'goes'; readonly removal: Removal }
  /** Stays exactly as it is, for want of evidence or of leave; `ask` may bring the evidence. */
  | {
      readonly kind: 'unconfirmed';
      readonly entry: InterfaceSpec;
      readonly removal: Removal;
      readonly ask?: Question;
    };

/** Where a delivered NIC stands. */
export interface Place {
  readonly serverId: string;
  /** Whether its object is this CR's, so that a missing subnet in the CR means an edit of the CR. */
  readonly own: boolean;
}

/** Decides about one delivered NIC: unknown is not absent, so without evidence it stays. */
export function decideRemoval(held: HeldEntry, place: Place, names: FreeNames, view: View): Fate {
  const { spec, port } = held;
  if (held.unclear || view.unreadablePorts.has(spec.portId ?? '')) return stays(spec);
  if (port === undefined) return fateOfMissing(spec, place, view);
  if (!isPlugged(port) && view.input.removals === 'allowed') {
    return leave(spec, place, 'notPlugged', 'named', view);
  }
  const match = matchSubnet(port, view, spec.address);
  if (match.kind === 'none') return fateOfUnselected(spec, port, place, view);
  const kept = match.kind === 'unknown' || !isAllowedStatus(port, view.input.selection);
  return kept ? stays(spec) : renewed({ ...held, port }, match, names, view);
}

function fateOfUnselected(spec: InterfaceSpec, port: Port, place: Place, view: View): Fate {
  const { selection, removals } = view.input;
  // A subnet that does not exist is a typing error, perhaps for the one that the NIC was delivered for.
  if (!selection.subnetsComplete) return stays(spec);
  const dropped = selection.pinned.subnets && isDropped(spec, view);
  if (dropped && place.own) return leave(spec, place, 'notSelected', 'named', view);
  // During a migration a port changes its status and may lose its addresses for a while.
  if (!dropped && !isAllowedStatus(port, selection)) return stays(spec);
  const question = questionOf(spec, place.serverId);
  const wasRead = view.verdict(question) === 'stillAttached';
  if (wasRead && removals === 'allowed') return leave(spec, place, 'notSelected', 'named', view);
  return unconfirmed(spec, 'noAddress', wasRead ? undefined : question);
}

/** The entry with what the port has now, or as it is while that cannot be read or cannot be used. */
function renewed(
  { spec, index: given, port }: HeldEntry & { readonly port: Port },
  match: Match,
  names: FreeNames,
  view: View,
): Fate {
  // An index out of range, or one that two entries claim, was never configured: the NIC gets another one.
  const index = given ?? names.next(port);
  if (index === undefined) return stays(spec);
  const built = entryOf(port, match, index, view);
  if (built.kind === 'missing') return stays(spec);
  const problem = isSameJson(built.entry, spec) ? undefined : refusalOf(port.id, [], built.entry);
  if (problem) return { ...stays(spec), problem };
  if (given === undefined) names.take(index);
  return stays(built.entry);
}

function stays(entry: InterfaceSpec): Extract<Fate, { kind: 'stays' }> {
  return { kind: 'stays', entry };
}

/** Whether the subnet that the NIC was delivered for is no longer selected. */
function isDropped({ subnetId }: InterfaceSpec, { rank }: View): boolean {
  return Boolean(subnetId) && !rank.has(subnetId ?? '');
}

function fateOfMissing(spec: InterfaceSpec, place: Place, view: View): Fate {
  const { serverId } = place;
  const question = questionOf(spec, serverId);
  const deleted = view.servers.get(serverId)?.status === 'DELETED';
  const verdict = deleted ? 'serverDeleted' : view.verdict(question);
  if (verdict === 'stillAttached') return stays(spec);
  if (isEvidence(verdict)) return leave(spec, place, verdict, 'proven', view);
  return unconfirmed(spec, 'unconfirmed', verdict === undefined ? question : undefined);
}

function questionOf({ portId, macAddress }: InterfaceSpec, serverId: string): Question {
  return { portId: portId || undefined, macAddress: macAddress.toLowerCase(), serverId };
}

function unconfirmed(
  entry: InterfaceSpec,
  cause: 'noAddress' | 'unconfirmed',
  ask: Question | undefined,
): Fate {
  const removal = removalOf(entry, cause, 'sideEffect');
  return { kind: 'unconfirmed', entry, removal, ...(ask ? { ask } : {}) };
}

function isEvidence(
  verdict: MissingPortState | undefined,
): verdict is Extract<MissingPortState, RemovalCause> {
  return verdict !== undefined && verdict !== 'stillAttached' && verdict !== 'unconfirmed';
}

function leave(
  spec: InterfaceSpec,
  { serverId }: Place,
  cause: RemovalCause,
  basis: RemovalBasis,
  view: View,
): Fate {
  const removal = removalOf(spec, cause, basis);
  return view.isHeldBack(serverId, removal)
    ? { kind: 'unconfirmed', entry: spec, removal }
    : { kind: 'goes', removal };
}

/** A removal of this entry. */
export function removalOf(
  { name, id = 0, portId, macAddress }: InterfaceSpec,
  cause: Removal['cause'],
  basis: RemovalBasis,
): Removal {
  return {
    name: name ?? `multinic${id}`,
    portId: portId || undefined,
    macAddress,
    cause,
    basis,
  };
}

/** One delivered NIC with its port, when the port was seen at the server. */
interface HeldEntry {
  readonly spec: InterfaceSpec;
  /** The N of multinicN; undefined when it is out of range or taken by an entry before it. */
  readonly index: number | undefined;
  readonly port: Port | undefined;
  /** Several ports of the server may be its port. */
  readonly unclear: boolean;
}

/** Pairs the entries of an object with the server's ports: by port id, or by MAC where an entry has none. */
export function existingEntries(
  held: ExistingNodeConfig | undefined,
  ports: readonly Port[],
): HeldEntry[] {
  const specs = held?.spec.interfaces ?? [];
  const indexes = new Set<number>();
  return specs.map((spec) => {
    const candidates = spec.portId
      ? ports.filter(({ id }) => id === spec.portId)
      : portsOf(spec, ports.filter(isUnnamed));
    const unclear = candidates.length > 1;
    const index = indexOfEntry(spec);
    const free = index !== undefined && !indexes.has(index);
    if (free) indexes.add(index);
    const port = unclear ? undefined : candidates[0];
    return { spec, index: free ? index : undefined, port, unclear };
  });

  function isUnnamed({ id }: Port): boolean {
    return !specs.some(({ portId }) => portId === id);
  }
}

/** The ports with the entry's MAC; of several (in different networks) those with its address, if there is one. */
function portsOf({ macAddress, address }: InterfaceSpec, ports: readonly Port[]): readonly Port[] {
  const same = ports.filter((p) => p.macAddress.toLowerCase() === macAddress.toLowerCase());
  const exact = same.filter(({ fixedIps }) => fixedIps.some((ip) => ip.ipAddress === address));
  return same.length > 1 && exact.length > 0 ? exact : same;
}
