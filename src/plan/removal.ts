import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import type { ExistingNodeConfig } from '../api/node-configs-http.ts';
import type { RemovalBasis } from '../api/removals.ts';
import { isSameJson } from '../api/same-json.ts';
import { clusterOverlapOf } from './cluster-overlap.ts';
import { entryOf, isAllowedStatus, type Match, matchSubnet } from './entry.ts';
import { type FreeNames, indexOfEntry } from './free-names.ts';
import { isPlugged, type MissingPortState, type Port, type Question } from './observation.ts';
import type { Problem, Removal, RemovalCause } from './plan.ts';
import { refusalOf } from './refusal.ts';
import type { View } from './view.ts';

/** Decision about a delivered NIC. */
type Fate =
  /** `problem`: why the NIC does not follow its port's new data. */
  | { readonly kind: 'stays'; readonly entry: InterfaceSpec; readonly problem?: Problem }
  | { readonly kind: 'goes'; readonly removal: Removal }
  /** Stays unchanged without evidence or consent; `ask` requests evidence. */
  | {
      readonly kind: 'unconfirmed';
      readonly entry: InterfaceSpec;
      readonly removal: Removal;
      readonly ask?: Question;
    };

/** Server and object that a NIC is delivered for. */
export interface Place {
  readonly serverId: string;
  /** True if this OpenstackConfig owns the object, so that a missing subnet means an edit. */
  readonly own: boolean;
  /** True if a different cloud or project delivered the object: a missing port proves nothing. */
  readonly isMoved: boolean;
}

/** Decides about one delivered NIC: unknown is not absent, so a NIC without evidence stays. */
export function decideRemoval(
  existing: ExistingEntry,
  place: Place,
  names: FreeNames,
  view: View,
): Fate {
  const { spec, port } = existing;
  if (existing.unclear || view.unreadablePorts.has(spec.portId ?? '')) return stays(spec);
  if (port === undefined) return fateOfMissing(spec, place, view);
  if (!isPlugged(port) && view.hasConsent(place.serverId, spec)) {
    return removeUnlessHeld(spec, place, 'notPlugged', 'sideEffect', view);
  }
  const match = matchSubnet(port, view, spec.address);
  if (match.kind === 'none') return fateOfUnselected(spec, port, place, view);
  const kept = match.kind === 'unknown' || !isAllowedStatus(port, view.input.selection);
  return kept ? stays(spec) : renewed({ ...existing, port }, match, names, view);
}

function fateOfUnselected(spec: InterfaceSpec, port: Port, place: Place, view: View): Fate {
  const { selection } = view.input;
  // A missing subnet may be a mistyped id, perhaps for the NIC's own subnet.
  if (!selection.subnetsComplete) return stays(spec);
  const dropped = selection.pinned.subnets && isDropped(spec, view);
  if (dropped && place.own) return removeUnlessHeld(spec, place, 'notSelected', 'named', view);
  // During a migration a port changes status and may temporarily lose its addresses.
  if (!dropped && !isAllowedStatus(port, selection)) return stays(spec);
  const question = questionOf(spec, place.serverId);
  const wasRead = view.verdict(question) === 'stillAttached';
  if (wasRead && view.hasConsent(place.serverId, spec))
    return removeUnlessHeld(spec, place, 'notSelected', 'sideEffect', view);
  return unconfirmed(spec, 'noAddress', wasRead ? undefined : question);
}

/** Returns the entry with the port's current data, or unchanged while the data are unreadable or invalid. */
function renewed(
  { spec, index: given, port }: ExistingEntry & { readonly port: Port },
  match: Match,
  names: FreeNames,
  view: View,
): Fate {
  // An entry with an index out of range or used twice was never configured: its NIC gets a new index.
  const index = given ?? names.next(port);
  if (index === undefined) return stays(spec);
  const built = entryOf(port, match, index, view);
  if (built.kind === 'missing') return stays(spec);
  // The same object for an equal entry: the plan of an unchanged node then takes little memory.
  if (isSameJson(built.entry, spec)) return stays(spec);
  const problem =
    refusalOf(port.id, [], built.entry) ??
    clusterOverlapOf(port.id, built.entry, view.input.clusterNetworks, spec);
  if (problem) return { ...stays(spec), problem };
  if (given === undefined) names.take(index);
  return stays(built.entry);
}

function stays(entry: InterfaceSpec): Extract<Fate, { kind: 'stays' }> {
  return { kind: 'stays', entry };
}

/** True if the NIC's subnet is no longer selected. */
function isDropped({ subnetId }: InterfaceSpec, { rank }: View): boolean {
  return Boolean(subnetId) && !rank.has(subnetId ?? '');
}

function fateOfMissing(spec: InterfaceSpec, place: Place, view: View): Fate {
  const { serverId } = place;
  const question = questionOf(spec, serverId);
  const deleted = view.servers.get(serverId)?.status === 'DELETED';
  const verdict = deleted ? 'serverDeleted' : view.verdict(question);
  if (verdict === 'stillAttached') return stays(spec);
  if (isEvidence(verdict)) return removeUnlessHeld(spec, place, verdict, 'evidence', view);
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

/** True if the verdict proves that the NIC is gone in OpenStack. */
export function isEvidence(
  verdict: MissingPortState | undefined,
): verdict is Extract<MissingPortState, RemovalCause> {
  return verdict !== undefined && verdict !== 'stillAttached' && verdict !== 'unconfirmed';
}

function removeUnlessHeld(
  spec: InterfaceSpec,
  { serverId, isMoved }: Place,
  cause: RemovalCause,
  basis: RemovalBasis,
  view: View,
): Fate {
  const removal = removalOf(spec, cause, isMoved ? 'sideEffect' : basis);
  return view.isHeldBack(serverId, removal)
    ? { kind: 'unconfirmed', entry: spec, removal }
    : { kind: 'goes', removal };
}

/** Returns the removal record for an entry. */
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

/** Delivered NIC with its port; port undefined: not attached to the server. */
interface ExistingEntry {
  readonly spec: InterfaceSpec;
  /** N in multinicN; undefined: out of range or used by an earlier entry. */
  readonly index: number | undefined;
  readonly port: Port | undefined;
  /** True if several ports on the server may match. */
  readonly unclear: boolean;
}

/**
 * Matches an object's entries with the server's ports: by port id, else by MAC. A port made again with an entry's MAC
 * is the same NIC: the guest knows a NIC only by its MAC.
 */
export function existingEntries(
  existing: ExistingNodeConfig | undefined,
  serverId: string,
  view: View,
): ExistingEntry[] {
  const specs = existing?.spec.interfaces ?? [];
  const named = new Set(specs.map(({ portId }) => portId));
  const ports = view.portsOf(serverId);
  const free = new Set(ports.filter(({ id }) => !named.has(id)));
  const indexes = new Set<number>();
  return specs.map((spec) => {
    const own = spec.portId ? ports.find(({ id }) => id === spec.portId) : undefined;
    const candidates = own ? [own] : candidatesFor(spec, [...free], serverId, view);
    const unclear = candidates === 'unclear' || candidates.length > 1;
    const index = indexOfEntry(spec);
    const isFree = index !== undefined && !indexes.has(index);
    if (isFree) indexes.add(index);
    const port = unclear ? undefined : candidates[0];
    if (port) free.delete(port);
    return { spec, index: isFree ? index : undefined, port, unclear };
  });
}

/** Returns the unnamed ports that may be the entry's NIC; several, or a port before its plug: unclear. */
function candidatesFor(
  spec: InterfaceSpec,
  ports: readonly Port[],
  serverId: string,
  view: View,
): readonly Port[] | 'unclear' {
  if (!spec.portId) return portsOf(spec, ports);
  // Neutron permits a MAC once per network: that port is the NIC, with or without an address at present.
  const there = portsOf(
    spec,
    ports.filter(({ networkId }) => networkId === spec.networkId),
  );
  if (there.length > 0 && !view.unreadablePorts.has(spec.portId)) {
    return there.every(isPlugged) ? there : 'unclear';
  }
  const isDeliverable = (port: Port) =>
    isPlugged(port) && matchSubnet(port, view, spec.address).kind !== 'none';
  const found = portsOf(spec, ports.filter(isDeliverable));
  const [only] = found;
  const isCertain = found.length > 1 || (only && isSuccessor(only, spec, serverId, view));
  return isCertain ? found : [];
}

/**
 * True if the port certainly replaces the entry's port: in another network the former port may only be missing from the
 * list, and needs evidence.
 */
function isSuccessor(port: Port, spec: InterfaceSpec, serverId: string, view: View): boolean {
  if (view.unreadablePorts.has(spec.portId ?? '')) return false;
  const verdict = view.verdict(questionOf(spec, serverId));
  return verdict === 'portGone' || verdict === 'attachedElsewhere';
}

/**
 * Returns the ports with the entry's MAC. When several networks have this MAC, ports with the entry's address win.
 */
function portsOf({ macAddress, address }: InterfaceSpec, ports: readonly Port[]): readonly Port[] {
  const same = ports.filter((p) => p.macAddress.toLowerCase() === macAddress.toLowerCase());
  const exact = same.filter(({ fixedIps }) => fixedIps.some((ip) => ip.ipAddress === address));
  return same.length > 1 && exact.length > 0 ? exact : same;
}
