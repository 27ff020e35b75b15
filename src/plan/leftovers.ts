import type { ExistingNodeConfig } from '../api/node-configs-http.ts';
import type { RemovalBasis } from '../api/removals.ts';
import type { Claim } from './claims.ts';
import { baseOf, deletingObject } from './node-plan.ts';
import type { NodePlan, Problem, RemovalCause } from './plan.ts';
import { removalOf } from './removal.ts';
import { compareText, deliveredFor, type ExistingObject, isOwn, type View } from './view.ts';

/** What becomes of the objects of this CR that no selected server uses. */
export interface Leftovers {
  readonly nodes: readonly NodePlan[];
  readonly problems: readonly Problem[];
  /** Servers of which nobody has read yet whether they left the selection. */
  readonly askServers: readonly string[];
}

/** `delivered`: the ports that each server's object is to hold. */
export function planLeftovers(
  claims: readonly Claim[],
  delivered: ReadonlyMap<string, ReadonlySet<string>>,
  view: View,
): Leftovers {
  const { scope, selection } = view.input;
  const selected = new Set(selection.serverIds);
  // A claim that waits does so for an object that goes.
  const settled = claims.filter(({ blocked }) => blocked?.kind !== 'waits');
  const used = new Set(settled.map((claim) => claim.held));
  const byServer = new Map(claims.map((claim) => [claim.serverId, claim]));

  function fatesOf(node: ExistingObject): { readonly node: ExistingObject; readonly fate: Fate }[] {
    const serverId = deliveredFor(node)?.toLowerCase() ?? '';
    if (!selected.has(serverId))
      return scope === 'all' ? [{ node, fate: fateOfDeselected(node, view) }] : [];
    const claim = byServer.get(serverId);
    // While a conflict is open nothing of either side is touched.
    const open = claim === undefined || claim.blocked?.kind === 'problem';
    return open ? [] : [{ node, fate: fateOfDuplicate(node, view, delivered.get(serverId)) }];
  }

  const leftovers = view.held
    .filter((node) => isOwn(node, view.input) && !used.has(node))
    .toSorted((a, b) => compareText(a.nodeName, b.nodeName))
    .flatMap(fatesOf);
  const stuck = leftovers.filter(({ fate }) => fate.kind === 'unclear');
  const asked = leftovers.filter(({ fate }) => fate.kind === 'asked');
  return {
    nodes: leftovers.map(({ node, fate }) => planOf(node, fate, view)),
    problems: stuck.map(({ node }) => unclearProblem(node)),
    askServers: [...new Set(asked.map(({ node }) => node.spec.instanceId ?? ''))],
  };
}

/** What becomes of one object. */
interface Fate {
  /** `held`: it waits for a name that resolves. `asked`: evidence has to be read. `unclear`: there is none. */
  readonly kind: 'goes' | 'held' | 'asked' | 'unclear';
  readonly cause: RemovalCause;
  readonly basis: RemovalBasis;
}

/**
 * A server that the CR names by its id goes with an edit of the CR alone. One that was found by its name or by what it
 * carries is only missing from a list, which proves nothing.
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
  if (verdict === 'selected' || verdict === 'unconfirmed') return { kind: 'unclear', cause, basis };
  if (verdict === 'deleted') return { kind: 'goes', cause: 'serverDeleted', basis: 'proven' };
  return { kind: 'goes', cause, basis };
}

/** Whoever made the OpenstackConfig again with fewer servers, or in another management cluster, has edited nothing. */
function basisOfDeselection({ source }: ExistingObject, { input }: View): RemovalBasis {
  if (source?.uid !== input.owner.uid) return 'sideEffect';
  return input.selection.pinned.servers ? 'named' : 'proven';
}

/** Another object delivers the server: what that one is to hold too stays on the node. */
function fateOfDuplicate({ spec }: ExistingObject, view: View, ports?: ReadonlySet<string>): Fate {
  const isKept = spec.interfaces?.every(({ portId }) => portId && ports?.has(portId)) ?? true;
  const kind = view.input.selection.serversComplete ? 'goes' : 'held';
  return { kind, cause: 'duplicate', basis: isKept ? 'proven' : 'sideEffect' };
}

/** The object goes, cleanup on the node included; one that may not go yet stays as it is. */
function planOf(held: ExistingNodeConfig, { kind, cause, basis }: Fate, view: View): NodePlan {
  const { interfaces = [], instanceId = '' } = held.spec;
  const removals = interfaces.map((entry) => removalOf(entry, cause, basis));
  const isHeldBack = removals.some((removal) => view.isHeldBack(instanceId, removal));
  const node = { nodeName: held.nodeName, instanceId, base: baseOf(held) } as const;
  if (kind !== 'goes' || isHeldBack) {
    const kept = { interfaces, removals: { confirmed: [], unconfirmed: removals } };
    return { ...node, ...kept, action: 'none', waiting: false, why: `${cause}, held back` };
  }
  const gone = { interfaces: [], removals: { confirmed: removals, unconfirmed: [] } };
  return held.deletionTimestamp === undefined
    ? { ...node, ...gone, action: 'delete', waiting: false, why: cause }
    : { ...node, ...gone, ...deletingObject };
}

function unclearProblem({ nodeName, spec }: ExistingObject): Problem {
  const { instanceId = '' } = spec;
  const message = `node ${nodeName}: server ${instanceId} is not among those that are selected, and nothing proves that it left them; its NICs stay`;
  return { reason: 'RemovalUnconfirmed', subject: `node ${nodeName}`, message };
}
