import { namedSome } from '../api/named-some.ts';
import type { ExistingNodeConfig } from '../api/node-configs-http.ts';
import { isOfCloud, isOwn, isSuccession, ownershipOf, takeOverValue } from './ownership.ts';
import type { PlanInput, Problem } from './plan.ts';
import { compareText, deliveredFor, type ExistingObject, type View } from './view.ts';

/** Object that delivers a selected server's NICs, or the reason for leaving all objects untouched. */
export interface Claim {
  readonly serverId: string;
  /** '' while unknown. */
  readonly nodeName: string;
  /** Existing object; for a blocked claim the object that stays unchanged. */
  readonly existing: ExistingObject | undefined;
  readonly blocked?: Block;
}

export type Block =
  | { readonly kind: 'problem'; readonly problem: Problem }
  /** Temporary: another object must be deleted first. */
  | { readonly kind: 'waits'; readonly why: string };

/** Returns the claim for every server in scope, ordered by server id. */
export function claimNodes(view: View): Claim[] {
  const claims = serversInScope(view).map((serverId) => claimOf(serverId, view));
  const sharers = Map.groupBy(claims, ({ nodeName }) => nodeName);
  return claims.map((claim) => {
    const sharing = claim.nodeName === '' ? [] : (sharers.get(claim.nodeName) ?? []);
    // A server already delivered under the name continues; a newcomer must not block its node.
    const shared = sharing.length > 1 && !isDelivered(claim);
    const blocked = shared ? sharedName(claim.nodeName, sharing) : blockOf(claim, view);
    return blocked ? { ...claim, blocked } : claim;
  });
}

/** True if the object may be used: own, without source and allowed, or taken over for a server in the same cloud. */
function isFree(node: ExistingNodeConfig, { input, servers }: View): boolean {
  const { source, spec } = node;
  const { owner, force, takesUnowned, takeOverFrom } = input;
  if (source === undefined) return takesUnowned;
  if (isOwn(node, owner, force)) return true;
  const isTakenOver = takeOverValue(source, owner) === takeOverFrom;
  const isPermitted = isTakenOver || isSuccession(node, input);
  // A source without cloud is as unproven as a missing source.
  const isSameCloud = isOfCloud(source, owner) && (source.cloud !== undefined || takesUnowned);
  return isPermitted && isSameCloud && servers.has(spec.instanceId ?? '');
}

function isDelivered({ serverId, nodeName, existing }: Claim): boolean {
  return existing?.nodeName === nodeName && existing.spec.instanceId === serverId;
}

function serversInScope({ input }: View): string[] {
  const { scope, selection } = input;
  const ids = new Set(selection.serverIds);
  const inScope = scope === 'all' ? [...ids] : scope.filter((id) => ids.has(id));
  return [...new Set(inScope)].toSorted(compareText);
}

function claimOf(serverId: string, view: View): Claim {
  const candidates = view
    .existingOf(serverId)
    .filter((node) => isFree(node, view))
    .toSorted((a, b) => compareText(a.nodeName, b.nodeName));
  const own = candidates.filter((node) => isOwn(node, view.input.owner, view.input.force));
  // In the other objects, instanceId was edited to this server.
  const made = own.find((node) => deliveredFor(node)?.toLowerCase() === serverId);
  const current = made ?? own[0] ?? candidates[0];
  const nodeName = nodeNameOf(serverId, current, view);
  return { serverId, nodeName, existing: view.existingByName.get(nodeName) ?? current };
}

const checks = [unnamed, illegalName, otherOwner, nameTaken];

function blockOf(claim: Claim, view: View): Block | undefined {
  for (const check of checks) {
    const block = check(claim, view);
    if (block) return block;
  }
  return undefined;
}

/** Servers listed per message: a shared metadata value can affect every server in a project. */
const shownServers = 5;

/** `sharing` is ordered by server id. */
function sharedName(nodeName: string, sharing: readonly Claim[]): Block {
  const ids = sharing.map(({ serverId }) => serverId);
  const who = namedSome(ids, shownServers, { separator: ' and ' });
  return conflict(
    `node ${nodeName}`,
    `servers ${who} are ${sharing.length > 2 ? 'all' : 'both'} named ${nodeName}; rename one of them or map names by openstackNodeNameMetadataKey`,
  );
}

function unnamed({ serverId, nodeName }: Claim, view: View): Block | undefined {
  if (nodeName !== '') return undefined;
  // The missing server itself is reported once, by lostServers.
  if (view.missingServers.has(serverId)) return { kind: 'waits', why: 'the server does not exist' };
  return {
    kind: 'problem',
    problem: {
      reason: 'NovaServerError',
      subject: `server ${serverId}`,
      message: `server ${serverId} could not be read, so the name of its node is unknown`,
    },
  };
}

function illegalName(claim: Claim): Block | undefined {
  const { serverId, nodeName } = claim;
  // The legacy operator wrote names unchanged; an existing object's own name is always legal.
  if (isLegalNodeName(nodeName) || isDelivered(claim)) return undefined;
  const message = `server ${serverId}: "${nodeName}" cannot be the name of a Kubernetes node; set the metadata key of openstackNodeNameMetadataKey on the server to its node's name`;
  const problem = { subject: `server ${serverId}`, field: 'nodeName', value: nodeName, message };
  return { kind: 'problem', problem: { reason: 'InvalidNodeName', ...problem } };
}

function otherOwner({ serverId, nodeName }: Claim, view: View): Block | undefined {
  const named = view.existingByName.get(nodeName);
  const foreign = [...view.existingOf(serverId), ...(named ? [named] : [])].find(
    (node) => !isFree(node, view),
  );
  if (!foreign) return undefined;
  return conflict(`node ${foreign.nodeName}`, conflictWith(foreign, serverId, view.input));
}

/** Returns why a foreign object stays untouched, and the next step for a user. */
function conflictWith(
  node: ExistingNodeConfig,
  serverId: string,
  { owner, force, takeOverFrom }: PlanInput,
): string {
  const { nodeName, source } = node;
  const own = `${owner.namespace}/${owner.name}`;
  if (!source) {
    return `MultiNicNodeConfig ${nodeName} names no OpenstackConfig, as objects of the legacy system do; add "${own}" to the operator's setting LEGACY_TAKE_OVER to take such objects over`;
  }
  const other = `${source.namespace}/${source.name}`;
  const value = takeOverValue(source, owner);
  const taking = `set multinic.io/take-over-from: ${value}`;
  if (value === takeOverFrom && source.cloud === undefined) {
    return `node ${nodeName} was delivered by OpenstackConfig ${other} without the name of its cloud, as earlier operators did; add "${own}" to the operator's setting LEGACY_TAKE_OVER to take such nodes over`;
  }
  if (value === takeOverFrom && !isOfCloud(source, owner)) {
    return `node ${nodeName} was delivered by OpenstackConfig ${other} from the cloud and project ${source.cloud}, and ${own} reads ${owner.cloud}; correct the credentials, or delete the MultiNicNodeConfig if the node is not in that cloud`;
  }
  const ownership = ownershipOf(node, owner, force);
  if (ownership === 'otherCluster') {
    return `node ${nodeName} is configured by OpenstackConfig ${other} of another management cluster (uid of its Namespace kube-system: ${source.cluster}); deselect server ${serverId} in one of them, or, if that management cluster is gone, ${taking}, or for all OpenstackConfigs add ${source.cluster} to the operator's setting FORMER_CLUSTERS`;
  }
  // A namesake was restored beside this OpenstackConfig and writes the node.
  if (ownership === 'replaced') {
    return `node ${nodeName} was written for another OpenstackConfig named ${other} after this one delivered it; delete one of the two, then set the annotation multinic.io/reconcile-at of the other one to a new value`;
  }
  return `node ${nodeName} is configured by OpenstackConfig ${other} and selected by ${own} too; select server ${serverId} in only one of them, or, if ${other} is deleted or has the annotation multinic.io/hand-over-to: ${own}, ${taking}`;
}

/** Conflict with another server's object under this name. */
function nameTaken({ serverId, nodeName, existing }: Claim, view: View): Block | undefined {
  const other = existing?.spec.instanceId;
  if (!existing || !other || other === serverId) return undefined;
  if (isOwn(existing, view.input.owner, view.input.force)) {
    return {
      kind: 'waits',
      why: `MultiNicNodeConfig ${nodeName} of server ${other} is deleted first`,
    };
  }
  return conflict(
    `node ${nodeName}`,
    `MultiNicNodeConfig ${nodeName} is for server ${other}, not ${serverId}; delete it if server ${other} no longer exists`,
  );
}

function conflict(subject: string, message: string): Block {
  return { kind: 'problem', problem: { reason: 'NameConflict', subject, message } };
}

/**
 * Returns the node name: from the existing object, else from the configured metadata key, else the server's name or
 * id. Nodes are matched by server id: renaming a server or editing metadata changes no NIC, and the controller
 * reports the difference. New names are lower case, as kubelet registers them. Returns '' when nothing is known; an
 * unread server's id never becomes a name.
 */
function nodeNameOf(
  serverId: string,
  existing: ExistingNodeConfig | undefined,
  view: View,
): string {
  const server = view.servers.get(serverId);
  const key = view.input.selection.nodeNameKey;
  const mapped = key === undefined ? '' : (server?.metadata[key] ?? '').trim();
  return existing?.nodeName || firstOf(mapped, server?.name.trim(), server?.id).toLowerCase();
}

function firstOf(...names: readonly (string | undefined)[]): string {
  return names.find(Boolean) ?? '';
}

/** True for a legal Kubernetes node and object name: RFC 1123 subdomain, at most 253 characters. */
function isLegalNodeName(name: string): boolean {
  return name.length <= 253 && name.split('.').every((part) => label.test(part));
}

const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
