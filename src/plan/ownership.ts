import type { ExistingNodeConfig, Source } from '../api/node-configs-http.ts';
import type { Owner, PlanInput } from './plan.ts';

/** Relation of an object in the business cluster to an OpenstackConfig. */
export type Ownership =
  /** Delivered for this OpenstackConfig, or for an earlier namesake in this management cluster. */
  | 'own'
  /** Without source: made by the legacy system or by hand. */
  | 'unowned'
  /** Delivered for this OpenstackConfig, then for a later namesake. */
  | 'replaced'
  /** Delivered in a different management cluster. */
  | 'otherCluster'
  /** Delivered for an OpenstackConfig with a different name. */
  | 'other';

type Sourced = Pick<ExistingNodeConfig, 'source'>;

/** Returns who owns an object. `force`: the OpenstackConfig takes objects back from a namesake. */
export function ownershipOf({ source }: Sourced, owner: Owner, force = false): Ownership {
  if (source === undefined) return 'unowned';
  if (!isOfCluster(source, owner)) return 'otherCluster';
  if (!isOfName(source, owner)) return 'other';
  return !force && source.replaces?.includes(owner.uid) ? 'replaced' : 'own';
}

/** True if this OpenstackConfig owns the object. */
export function isOwn(node: Sourced, owner: Owner, force = false): boolean {
  return ownershipOf(node, owner, force) === 'own';
}

/** True if the object was posted for exactly this OpenstackConfig, not for a namesake. */
export function isOfThis({ source }: Sourced, owner: Owner): boolean {
  return source?.uid === owner.uid && isOfName(source, owner);
}

/** True if only the name shows the owner: the source has another uid, and no management cluster. */
export function isUnverified({ source }: Sourced, owner: Owner): boolean {
  if (source === undefined || owner.cluster === undefined) return false;
  return isOwn({ source }, owner) && source.cluster === undefined && source.uid !== owner.uid;
}

/** True if the source has this name, regardless of uid and management cluster. */
export function isOfName(
  source: Pick<Owner, 'namespace' | 'name'> | undefined,
  { namespace, name }: Pick<Owner, 'namespace' | 'name'>,
): boolean {
  return source?.namespace === namespace && source.name === name;
}

/** False for a different management cluster. Operators of earlier releases name no cluster: unknown is not different. */
function isOfCluster({ uid, cluster }: Source, owner: Owner): boolean {
  if (cluster === undefined || owner.cluster === undefined || uid === owner.uid) return true;
  return cluster === owner.cluster || (owner.formerClusters ?? []).includes(cluster);
}

/**
 * True if this OpenstackConfig may succeed the object's, such as after a rename in git: that one is deleted or in
 * deletion, in the same management cluster, cloud and project. Unknown is not equal.
 */
export function isSuccession(
  { source }: Sourced,
  { owner, force, takeOverFrom, leftSources }: PlanInput,
): boolean {
  if (source === undefined || isOwn({ source }, owner, force)) return false;
  if (takeOverValue(source, owner) === takeOverFrom) return false;
  const isHere = owner.cluster !== undefined && source.cluster === owner.cluster;
  const isSameCloud = owner.cloud !== undefined && source.cloud === owner.cloud;
  return isHere && isSameCloud && leftSources.includes(source.uid);
}

/** Returns the source as a value of multinic.io/take-over-from. */
export function takeOverValue({ namespace, name, cluster }: Source, owner: Owner): string {
  const isHere = cluster === undefined || cluster === owner.cluster;
  return isHere ? `${namespace}/${name}` : `${cluster}/${namespace}/${name}`;
}

/** False if a different cloud or project delivered the object. */
export function isOfCloud(source: Source | undefined, { cloud }: Owner): boolean {
  return source?.cloud === undefined || cloud === undefined || source.cloud === cloud;
}
