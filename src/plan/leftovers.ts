import type { RemovalBasis } from '../api/removals.ts';
import type { Claim } from './claims.ts';
import { keptNicsOf, keptProblem, unlistedNicsOf } from './kept-nics.ts';
import { baseOf, deletingObject } from './node-plan.ts';
import { isOfCloud, isOfThis, isOwn } from './ownership.ts';
import type { NodePlan, Problem, RemovalCause } from './plan.ts';
import { removalOf } from './removal.ts';
import { compareText, deliveredFor, type ExistingObject, type View } from './view.ts';

/** Plan for this OpenstackConfig's objects without a selected server. */
export interface Leftovers {
  readonly nodes: readonly NodePlan[];
  readonly problems: readonly Problem[];
  /** Delivered servers whose removal needs evidence. */
  readonly askServers: readonly string[];
}

/** Plans leftover objects. `delivered`: target ports per server. */
export function planLeftovers(
  claims: readonly Claim[],
  delivered: ReadonlyMap<string, ReadonlySet<string>>,
  view: View,
): Leftovers {
  const { scope, selection } = view.input;
  const selected = new Set(selection.serverIds);
  // A waiting claim waits for a leftover object's deletion.
  const settled = claims.filter(({ blocked }) => blocked?.kind !== 'waits');
  const used = new Set(settled.map((claim) => claim.existing));
  const byServer = new Map(claims.map((claim) => [claim.serverId, claim]));

  function fatesOf(node: ExistingObject): { readonly node: ExistingObject; readonly fate: Fate }[] {
    const serverId = deliveredFor(node)?.toLowerCase() ?? '';
    if (!selected.has(serverId))
      return scope === 'all' ? [{ node, fate: fateOfDeselected(node, view) }] : [];
    const claim = byServer.get(serverId);
    // During a conflict both objects stay untouched.
    const open = claim === undefined || claim.blocked?.kind === 'problem';
    return open ? [] : [{ node, fate: fateOfDuplicate(node, view, delivered.get(serverId)) }];
  }

  const leftovers = view.existing
    .filter((node) => isOwn(node, view.input.owner, view.input.force) && !used.has(node))
    .toSorted((a, b) => compareText(a.nodeName, b.nodeName))
    .flatMap(fatesOf);
  const stuck = leftovers.filter(({ fate }) => fate.kind === 'unclear');
  const soft = leftovers.filter(({ fate }) => fate.kind === 'softDeleted');
  const asked = leftovers.filter(({ fate }) => fate.kind === 'asked');
  return {
    nodes: leftovers.map(({ node, fate }) => planOf(node, fate, view)),
    problems: [
      ...soft.map(({ node }) => softDeletedProblem(node.spec.instanceId ?? '')),
      ...stuck.map(({ node }) => unclearProblem(node)),
      ...leftovers.flatMap(({ node }) => keptProblem(node)),
    ],
    askServers: [...new Set(asked.map(({ node }) => node.spec.instanceId ?? ''))],
  };
}

/** Decision about one object. */
interface Fate {
  /**
   * `held`: a server name is unresolved. `asked`: evidence is requested. `unclear`: no evidence exists. `softDeleted`: a
   * restore brings the server back.
   */
  readonly kind: 'goes' | 'held' | 'asked' | 'unclear' | 'softDeleted';
  readonly cause: RemovalCause;
  readonly basis: RemovalBasis;
}

/**
 * Decides about a deselected server. A server selected by id is removed by an edit alone. A server selected by name,
 * metadata or tags is only missing from a list, which proves nothing.
 */
function fateOfDeselected(node: ExistingObject, view: View): Fate {
  const { selection } = view.input;
  const { instanceId: serverId = '' } = node.spec;
  const cause = 'deselected';
  const basis = basisOfDeselection(node, view);
  if (selection.pinned.servers) return { kind: 'goes', cause, basis };
  if (!selection.serversComplete) return { kind: 'held', cause, basis };
  const verdict = serverId === '' ? 'unconfirmed' : view.serverVerdict(serverId);
  if (verdict === undefined) return { kind: 'asked', cause, basis };
  if (verdict === 'softDeleted') return { kind: verdict, cause, basis };
  if (verdict === 'selected' || verdict === 'unconfirmed') return { kind: 'unclear', cause, basis };
  if (verdict === 'deleted') return { kind: 'goes', cause: 'serverDeleted', basis: 'evidence' };
  return { kind: 'goes', cause, basis };
}

/** Recreating the OpenstackConfig, with fewer servers or in another management cluster, does not count as an edit. */
function basisOfDeselection(node: ExistingObject, { input }: View): RemovalBasis {
  if (!isOfThis(node, input.owner)) return 'sideEffect';
  return input.selection.pinned.servers ? 'named' : 'evidence';
}

/** Decides about a second object: another object delivers the server, and NICs in both stay on the node. */
function fateOfDuplicate({ spec }: ExistingObject, view: View, ports?: ReadonlySet<string>): Fate {
  const isKept = spec.interfaces?.every(({ portId }) => portId && ports?.has(portId)) ?? true;
  const kind = view.input.selection.serversComplete ? 'goes' : 'held';
  return { kind, cause: 'duplicate', basis: isKept ? 'evidence' : 'sideEffect' };
}

/** Deletes the object with cleanup on the node, or leaves an object unchanged that may not go yet. */
function planOf(existing: ExistingObject, { kind, cause, ...fate }: Fate, view: View): NodePlan {
  const { interfaces = [], instanceId = '' } = existing.spec;
  const basis = isOfCloud(existing.source, view.input.owner) ? fate.basis : 'sideEffect';
  const removals = interfaces.map((entry) => removalOf(entry, cause, basis));
  const isHeldBack = removals.some((removal) => view.isHeldBack(instanceId, removal));
  const node = { nodeName: existing.nodeName, instanceId, base: baseOf(existing) } as const;
  if (kind !== 'goes' || isHeldBack) {
    const kept = { interfaces, removals: { confirmed: [], unconfirmed: removals } };
    return { ...node, ...kept, action: 'none', waiting: false, why: `${cause}, removal on hold` };
  }
  const gone = { interfaces: [], removals: { confirmed: removals, unconfirmed: [] } };
  if (existing.deletionTimestamp === undefined) {
    const unlisted = unlistedNicsOf(existing, instanceId, view);
    return { ...node, ...gone, ...unlisted, action: 'delete', waiting: false, why: cause };
  }
  const { kept } = keptNicsOf(existing, [], instanceId, view);
  return { ...node, ...gone, ...kept, ...deletingObject };
}

/** Returns the problem for a server that Nova keeps for `reclaim_instance_interval` after its deletion. */
export function softDeletedProblem(serverId: string): Problem {
  const message = `server ${serverId} is soft-deleted (status SOFT_DELETED in Nova), and its NICs stay; restore the server (openstack server restore ${serverId}), or delete it for good (openstack server delete --force ${serverId})`;
  return { reason: 'ServerSoftDeleted', subject: `server ${serverId}`, message };
}

function unclearProblem({ nodeName, spec }: ExistingObject): Problem {
  const { instanceId = '' } = spec;
  const message = `node ${nodeName}: server ${instanceId} is missing among the selected servers, but nothing confirms its deletion or deselection; its NICs stay`;
  return { reason: 'RemovalUnconfirmed', subject: `node ${nodeName}`, message };
}
