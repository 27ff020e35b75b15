import type { HeldNode } from '../api/node-configs-http.ts';
import type { Claim } from './claims.ts';
import { baseOf, onItsWayOut } from './node-plan.ts';
import type { NodePlan, Problem, RemovalCause } from './plan.ts';
import { removalOf } from './removal.ts';
import { compareText, type HeldObject, isOwn, type View } from './view.ts';

/** What becomes of the objects of this CR that no selected server uses. */
export interface Leftovers {
  readonly nodes: readonly NodePlan[];
  readonly problems: readonly Problem[];
  /** Servers of which nobody has read yet whether they left the selection. */
  readonly askServers: readonly string[];
}

export function planLeftovers(claims: readonly Claim[], view: View): Leftovers {
  const { owner, scope, selection } = view.input;
  const selected = new Set(selection.serverIds);
  // A claim that waits does so for an object that goes.
  const settled = claims.filter(({ blocked }) => blocked?.kind !== 'waits');
  const used = new Set(settled.map((claim) => claim.held));
  const byServer = new Map(claims.map((claim) => [claim.serverId, claim]));

  function fatesOf(node: HeldObject): { readonly node: HeldObject; readonly fate: Fate }[] {
    const serverId = node.spec.instanceId ?? '';
    if (!selected.has(serverId))
      return scope === 'all' ? [{ node, fate: fateOfDeselected(serverId, view) }] : [];
    const claim = byServer.get(serverId);
    // While a conflict is open nothing of either side is touched.
    const open = claim === undefined || claim.blocked?.kind === 'problem';
    return open ? [] : [{ node, fate: fateOfRenamed(view) }];
  }

  const leftovers = view.held
    .filter((node) => isOwn(node, owner) && !used.has(node))
    .toSorted((a, b) => compareText(a.nodeName, b.nodeName))
    .flatMap(fatesOf);
  const stuck = leftovers.filter(({ fate }) => fate.kind === 'unclear');
  const asked = leftovers.filter(({ fate }) => fate.kind === 'asked');
  return {
    nodes: leftovers.map(({ node, fate }) => planOf(node, fate)),
    problems: stuck.map(({ node }) => unclearProblem(node)),
    askServers: [...new Set(asked.map(({ node }) => node.spec.instanceId ?? ''))],
  };
}

/** What becomes of one object. */
interface Fate {
  /** `held`: it waits for leave, or for a name that resolves. `asked`: evidence has to be read. `unclear`: there is none. */
  readonly kind: 'goes' | 'held' | 'asked' | 'unclear';
  readonly cause: RemovalCause;
  readonly explicit: boolean;
}

/**
 * A server that the CR names by its id goes with an edit of the CR alone. One that was found by its name or by what it
 * carries is only missing from a list, which proves nothing.
 */
function fateOfDeselected(serverId: string, view: View): Fate {
  const { pinned, serversComplete } = view.input.selection;
  const cause = 'deselected';
  if (pinned.servers) return { kind: 'goes', cause, explicit: true };
  if (!serversComplete) return { kind: 'held', cause, explicit: false };
  const verdict = serverId === '' ? 'unconfirmed' : view.serverVerdict(serverId);
  if (verdict === undefined) return { kind: 'asked', cause, explicit: false };
  if (verdict === 'selected' || verdict === 'unconfirmed') {
    return { kind: 'unclear', cause, explicit: false };
  }
  const kind = view.hold ? 'held' : 'goes';
  return { kind, cause: verdict === 'deleted' ? 'serverDeleted' : cause, explicit: false };
}

/** The node has another name now, and this is its old object. */
function fateOfRenamed(view: View): Fate {
  const waits = view.hold || !view.input.selection.serversComplete;
  return { kind: waits ? 'held' : 'goes', cause: 'renamed', explicit: false };
}

/** The object goes, cleanup on the node included; one that may not go yet stays as it is. */
function planOf(held: HeldNode, { kind, cause, explicit }: Fate): NodePlan {
  const { interfaces = [], instanceId = '' } = held.spec;
  const removals = interfaces.map((entry) => removalOf(entry, cause, explicit));
  const node = { nodeName: held.nodeName, instanceId, base: baseOf(held) } as const;
  if (kind !== 'goes') {
    const kept = { interfaces, removals: { confirmed: [], unconfirmed: removals } };
    return { ...node, ...kept, action: 'none', waiting: false, why: `${cause}, held back` };
  }
  const gone = { interfaces: [], removals: { confirmed: removals, unconfirmed: [] } };
  return held.deletionTimestamp === undefined
    ? { ...node, ...gone, action: 'delete', waiting: false, why: cause }
    : { ...node, ...gone, ...onItsWayOut };
}

function unclearProblem({ nodeName, spec }: HeldObject): Problem {
  const { instanceId = '' } = spec;
  const message = `node ${nodeName}: server ${instanceId} is not among those that are selected, and nothing proves that it left them; its NICs stay`;
  return { reason: 'RemovalUnconfirmed', subject: `node ${nodeName}`, message };
}
