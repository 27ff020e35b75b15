import type { ExistingNodeConfig } from '../api/node-configs-http.ts';
import type { Owner, Problem } from './plan.ts';
import {
  compareText,
  deliveredFor,
  type ExistingObject,
  isOfName,
  isOwn,
  type View,
} from './view.ts';

/** Which object a selected server's NICs are delivered in, or why none may be touched. */
export interface Claim {
  readonly serverId: string;
  /** '' while it is not known. */
  readonly nodeName: string;
  /** The object that is there already; of a blocked claim the one that stays as it is. */
  readonly held: ExistingObject | undefined;
  readonly blocked?: Block;
}

export type Block =
  | { readonly kind: 'problem'; readonly problem: Problem }
  /** Ends by itself: something has to go first. */
  | { readonly kind: 'waits'; readonly why: string };

/** Finds the object of every server in scope, in the order of server ids. */
export function claimNodes(view: View): Claim[] {
  const claims = serversInScope(view).map((serverId) => claimOf(serverId, view));
  const sharers = Map.groupBy(claims, ({ nodeName }) => nodeName);
  return claims.map((claim) => {
    const sharing = claim.nodeName === '' ? [] : (sharers.get(claim.nodeName) ?? []);
    // Who is delivered under the name goes on; a newcomer does not freeze it.
    const shared = sharing.length > 1 && !isDelivered(claim);
    const blocked = shared ? sharedName(claim.nodeName, sharing) : blockOf(claim, view);
    return blocked ? { ...claim, blocked } : claim;
  });
}

/**
 * Whether nobody else has a right to the object: it names no OpenstackConfig, it belongs to this one, or it is taken over for
 * a server that the account sees.
 */
function isFree(node: ExistingNodeConfig, { input, servers }: View): boolean {
  const { source, spec } = node;
  if (source === undefined || isOwn(node, input)) return true;
  const isTakenOver = `${source.namespace}/${source.name}` === input.takeOverFrom;
  return isTakenOver && servers.has(spec.instanceId ?? '');
}

function isDelivered({ serverId, nodeName, held }: Claim): boolean {
  return held?.nodeName === nodeName && held.spec.instanceId === serverId;
}

function serversInScope({ input }: View): string[] {
  const { scope, selection } = input;
  const ids = new Set(selection.serverIds);
  const inScope = scope === 'all' ? [...ids] : scope.filter((id) => ids.has(id));
  return [...new Set(inScope)].toSorted(compareText);
}

function claimOf(serverId: string, view: View): Claim {
  const candidates = view
    .heldOf(serverId)
    .filter((node) => isFree(node, view))
    .toSorted((a, b) => compareText(a.nodeName, b.nodeName));
  const own = candidates.filter((node) => isOwn(node, view.input));
  // Into another one somebody wrote this server.
  const made = own.find((node) => deliveredFor(node)?.toLowerCase() === serverId);
  const current = made ?? own[0] ?? candidates[0];
  const nodeName = nodeNameOf(serverId, current, view);
  return { serverId, nodeName, held: view.heldByName.get(nodeName) ?? current };
}

const checks = [unnamed, illegalName, otherOwner, nameTaken];

function blockOf(claim: Claim, view: View): Block | undefined {
  for (const check of checks) {
    const block = check(claim, view);
    if (block) return block;
  }
  return undefined;
}

/** One value of metadata on every server of a project is a mistake easily made. */
const shownServers = 5;

/** `sharing` is in the order of server ids. */
function sharedName(nodeName: string, sharing: readonly Claim[]): Block {
  const shown = sharing.slice(0, shownServers).map(({ serverId }) => serverId);
  const rest = sharing.length - shown.length;
  const who = [...shown, ...(rest > 0 ? [`${rest} more`] : [])].join(' and ');
  return conflict(
    `node ${nodeName}`,
    `servers ${who} are ${sharing.length > 2 ? 'all' : 'both'} named ${nodeName}; rename one of them or map names by openstackNodeNameMetadataKey`,
  );
}

function unnamed({ serverId, nodeName }: Claim, view: View): Block | undefined {
  if (nodeName !== '') return undefined;
  // Why it is missing, and that it is, is said once for all servers.
  if (view.missingServers.has(serverId)) return { kind: 'waits', why: 'the server does not exist' };
  return {
    kind: 'problem',
    problem: {
      reason: 'NovaServerError',
      subject: `server ${serverId}`,
      message: `server ${serverId} could not be read, so the name of its node is not known`,
    },
  };
}

function illegalName(claim: Claim): Block | undefined {
  const { serverId, nodeName } = claim;
  // The deployed system wrote names as they came; the object's own name is legal, or it would not be there.
  if (isLegalNodeName(nodeName) || isDelivered(claim)) return undefined;
  const message = `server ${serverId}: "${nodeName}" cannot be the name of a Kubernetes node; set the metadata key of openstackNodeNameMetadataKey on the server to its node's name`;
  const problem = { subject: `server ${serverId}`, field: 'nodeName', value: nodeName, message };
  return { kind: 'problem', problem: { reason: 'InvalidNodeName', ...problem } };
}

function otherOwner({ serverId, nodeName }: Claim, view: View): Block | undefined {
  const { owner } = view.input;
  const named = view.heldByName.get(nodeName);
  const foreign = [...view.heldOf(serverId), ...(named ? [named] : [])].find(
    (node) => !isFree(node, view),
  );
  if (!foreign?.source) return undefined;
  const { namespace, name } = foreign.source;
  if (isOfName(foreign.source, owner)) return replaced(foreign, owner);
  return conflict(
    `node ${foreign.nodeName}`,
    `node ${foreign.nodeName} is configured by OpenstackConfig ${namespace}/${name} and selected by ${owner.namespace}/${owner.name} too; select server ${serverId} in one of the two only, or, if ${namespace}/${name} is gone or has the annotation multinic.io/hand-over-to: ${owner.namespace}/${owner.name}, set multinic.io/take-over-from: ${namespace}/${name}`,
  );
}

/** A namesake of this OpenstackConfig, in another management cluster or restored beside it, writes the node. */
function replaced({ nodeName }: ExistingNodeConfig, { namespace, name }: Owner): Block {
  return conflict(
    `node ${nodeName}`,
    `node ${nodeName} was written for another OpenstackConfig named ${namespace}/${name} after this one delivered it; remove one of the two, then set multinic.io/reconcile-at to a new value on the one that is to have the node`,
  );
}

/** Another server's object has the name. */
function nameTaken({ serverId, nodeName, held }: Claim, view: View): Block | undefined {
  const other = held?.spec.instanceId;
  if (!held || !other || other === serverId) return undefined;
  if (isOwn(held, view.input)) {
    return { kind: 'waits', why: `MultiNicNodeConfig ${nodeName} of server ${other} goes first` };
  }
  return conflict(
    `node ${nodeName}`,
    `MultiNicNodeConfig ${nodeName} is for server ${other}, not ${serverId}; delete it if that server is gone`,
  );
}

function conflict(subject: string, message: string): Block {
  return { kind: 'problem', problem: { reason: 'NameConflict', subject, message } };
}

/**
 * Name of a server's node: the one that its object has, else the metadata value when a key is configured, else the server's
 * name, else, of a server without one, its id. The node is found by the server's id: whoever renames a server, or its
 * metadata, changes no NIC, and the controller reports a name that differs. Lower case, as the kubelet makes it, but an
 * object keeps the name as it is written; '' when nothing is known: the id of a server that could not be read is never taken
 * for a name.
 */
export function nodeNameOf(
  serverId: string,
  held: ExistingNodeConfig | undefined,
  view: View,
): string {
  const server = view.servers.get(serverId);
  const key = view.input.selection.nodeNameKey;
  const mapped = key === undefined ? '' : (server?.metadata[key] ?? '').trim();
  return held?.nodeName || firstOf(mapped, server?.name.trim(), server?.id).toLowerCase();
}

function firstOf(...names: readonly (string | undefined)[]): string {
  return names.find(Boolean) ?? '';
}

/** Whether Kubernetes can have a node (and an object) of this name: RFC 1123 subdomain, at most 253 characters. */
function isLegalNodeName(name: string): boolean {
  return name.length <= 253 && name.split('.').every((part) => label.test(part));
}

const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
