import type { Cluster, Target } from '../cluster.ts';
import { type KubeObject, keyOf, type OwnerReference, withMeta } from '../objects/object.ts';
import { resourceOf } from '../resources/resource-type.ts';
import type { Change } from '../storage/storage.ts';
import { foregroundFinalizer, orphanFinalizer, remove } from '../verbs/delete.ts';
import { update } from '../verbs/update.ts';
import type { ClusterController } from './loop.ts';

const manager = 'kube-controller-manager';

interface Dependent {
  readonly target: Target;
  readonly object: KubeObject;
}

/**
 * Collects objects whose owners are gone, lets owners wait for their dependents (foreground), or cuts them loose
 * (orphan). Keys are "resource|key" of the object to look at.
 */
export function garbageCollector(cluster: Cluster): ClusterController {
  const dependentsOf = new Map<string, Set<string>>();

  function index({ resource, key, object, previous, type }: Change): void {
    const id = `${resource}|${key}`;
    for (const uid of ownerUids(previous)) dependentsOf.get(uid)?.delete(id);
    if (type === 'DELETED') return;
    for (const uid of ownerUids(object)) {
      dependentsOf.set(uid, (dependentsOf.get(uid) ?? new Set()).add(id));
    }
  }

  function dependents(owner: KubeObject): readonly Dependent[] {
    const ids = [...(dependentsOf.get(owner.metadata.uid ?? '') ?? [])];
    return ids.flatMap((id) => lookUp(cluster, id) ?? []);
  }

  return {
    keys(change) {
      index(change);
      const { resource, key, object } = change;
      const concerned = ownerUids(object).flatMap((uid) => keysOfOwner(cluster, object, uid));
      const orphaned =
        change.type === 'DELETED' ? (dependentsOf.get(object.metadata.uid ?? '') ?? []) : [];
      return [`${resource}|${key}`, ...concerned, ...orphaned];
    },
    reconcile(id) {
      const found = lookUp(cluster, id);
      if (!found) return undefined;
      if (found.object.metadata.deletionTimestamp === undefined) collect(cluster, found);
      else releaseOwner(cluster, found, dependents(found.object));
      return undefined;
    },
  };
}

/** Deletes an object all of whose owners are gone; drops references to gone owners while others are left. */
function collect(cluster: Cluster, { target, object }: Dependent): void {
  const references = object.metadata.ownerReferences ?? [];
  const present = references.filter((one) => isOwnerPresent(cluster, object, one));
  if (present.length === references.length) return;
  const { uid, resourceVersion } = object.metadata;
  if (present.length === 0) {
    remove(cluster, target, { uid, resourceVersion, propagationPolicy: 'Background' });
  } else {
    setOwners(cluster, target, present);
  }
}

/** Deals with the dependents of an owner that waits for it, then takes the waiting away. */
function releaseOwner(cluster: Cluster, owner: Dependent, dependents: readonly Dependent[]): void {
  const finalizers = owner.object.metadata.finalizers ?? [];
  const { uid } = owner.object.metadata;
  if (finalizers.includes(orphanFinalizer)) {
    for (const { target, object } of dependents) {
      const others = object.metadata.ownerReferences?.filter((one) => one.uid !== uid) ?? [];
      setOwners(cluster, target, others);
    }
    dropFinalizer(cluster, owner.target, orphanFinalizer);
  } else if (finalizers.includes(foregroundFinalizer)) {
    const blocking = dependents.filter(({ object }) =>
      object.metadata.ownerReferences?.some((one) => one.uid === uid && one.blockOwnerDeletion),
    );
    for (const { target, object } of dependents) {
      if (object.metadata.deletionTimestamp !== undefined) continue;
      remove(cluster, target, { propagationPolicy: 'Foreground' });
    }
    if (blocking.length === 0) dropFinalizer(cluster, owner.target, foregroundFinalizer);
  }
}

function setOwners(cluster: Cluster, target: Target, owners: readonly OwnerReference[]): void {
  const ownerReferences = owners.length > 0 ? owners : undefined;
  update(cluster, target, (live) => withMeta(live, { ownerReferences }), { manager });
}

function dropFinalizer(cluster: Cluster, target: Target, finalizer: string): void {
  const change = (live: KubeObject): KubeObject => {
    const left = (live.metadata.finalizers ?? []).filter((one) => one !== finalizer);
    return withMeta(live, { finalizers: left.length > 0 ? left : undefined });
  };
  update(cluster, target, change, { manager });
}

/** An owner counts only in the dependent's own namespace or cluster-wide, and only with the uid that is meant. */
function isOwnerPresent(cluster: Cluster, object: KubeObject, owner: OwnerReference): boolean {
  const type = cluster.types.ofKind(owner.apiVersion, owner.kind);
  // A kind that is not served cannot be looked up: the real collector waits, too.
  if (!type) return true;
  const namespace = type.namespaced ? object.metadata.namespace : undefined;
  const key = namespace === undefined ? owner.name : `${namespace}/${owner.name}`;
  return cluster.storage.get(resourceOf(type), key)?.metadata.uid === owner.uid;
}

function keysOfOwner(cluster: Cluster, object: KubeObject, uid: string): readonly string[] {
  const owner = object.metadata.ownerReferences?.find((one) => one.uid === uid);
  const type = owner && cluster.types.ofKind(owner.apiVersion, owner.kind);
  if (!type) return [];
  const namespace = type.namespaced ? object.metadata.namespace : undefined;
  const metadata = { name: owner.name, ...(namespace === undefined ? {} : { namespace }) };
  return [`${resourceOf(type)}|${keyOf({ metadata })}`];
}

function ownerUids(object: KubeObject | undefined): readonly string[] {
  return (object?.metadata.ownerReferences ?? []).map((one) => one.uid);
}

function lookUp(cluster: Cluster, id: string): Dependent | undefined {
  const [resource = '', key = ''] = id.split('|');
  const type = cluster.types.ofResource(resource);
  const object = cluster.storage.get(resource, key);
  if (!type || !object) return undefined;
  const { namespace, name } = object.metadata;
  return { target: { type, namespace, name }, object };
}
