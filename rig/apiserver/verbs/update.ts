import { type Cluster, keyOfTarget, read, type Target } from '../cluster.ts';
import { type Json, sameJson } from '../objects/json.ts';
import { type KubeObject, withMeta } from '../objects/object.ts';
import { notFound } from '../objects/status-error.ts';
import {
  atStorageVersion,
  atVersion,
  type ResourceType,
  resourceOf,
  specDiffers,
} from '../resources/resource-type.ts';
import { track } from '../ssa/apply.ts';
import { managedFields, type Owners, ownersOf } from '../ssa/managers.ts';
import { ownable } from './content.ts';
import { decoded } from './decoded.ts';
import { isDone } from './delete.ts';
import { refuseInvalid, refuseReplacement, refuseStale } from './refuse.ts';
import { trackedWrite, type WriteOptions } from './write-options.ts';

export interface UpdateOptions extends WriteOptions {
  /** True for PUT: some kinds then insist on a resource version. */
  readonly replace?: boolean;
}

/**
 * Replaces an object by what `change` makes of the live one. A state that is equal to the live one is not written:
 * the resource version stays. An object that was waiting only for its last finalizer is removed.
 */
export function update(
  cluster: Cluster,
  target: Target,
  change: (live: KubeObject) => KubeObject,
  options: UpdateOptions,
): KubeObject {
  const live = liveObject(cluster, target);
  const proposed = scoped(change(live), live, target.type, options.subresource);
  if (options.replace) refuseReplacement(proposed, live, target.type);
  refuseStale(proposed.metadata, live, target.type);
  const shaped = decoded(proposed, target.type);
  const before = { content: ownable(live), owners: ownersOf(live.metadata.managedFields) };
  const write = trackedWrite(cluster, target, 'Update', options);
  const owners = track(before, ownable(shaped), write);
  return commit(cluster, target, live, shaped, owners, options);
}

/** The object at the version of the request; throws 404 when there is none. */
export function liveObject(cluster: Cluster, target: Target): KubeObject {
  const live = read(cluster, target);
  if (!live) throw notFound(target.type, target.name);
  return atVersion(live, target.type);
}

/** Checks and stores a new state whose owners are settled. */
export function commit(
  cluster: Cluster,
  target: Target,
  live: KubeObject,
  proposed: KubeObject,
  owners: Owners,
  options: WriteOptions,
): KubeObject {
  const { type } = target;
  const prepared = type.strategy.prepareUpdate?.(proposed, live) ?? proposed;
  const fields = managedFields(owners);
  const generation = nextGeneration(prepared, live, type);
  const object = withMeta(prepared, {
    managedFields: fields.length > 0 ? fields : undefined,
    generation,
  });
  refuseInvalid(object, live, type);
  if (sameJson(object, live)) return live;
  if (options.dryRun) return object;
  if (isDone(object)) {
    cluster.storage.remove(resourceOf(type), keyOfTarget(target));
    return object;
  }
  return atVersion(cluster.storage.put(resourceOf(type), atStorageVersion(object, type)), type);
}

/** Keeps what this path may not change: identity always, status or everything but status. */
export function scoped(
  proposed: KubeObject,
  live: KubeObject,
  type: ResourceType,
  subresource: string | undefined,
): KubeObject {
  const metadata = identityOf(proposed, live);
  if (subresource === 'status') return statusOnly(proposed, live, type, metadata);
  const { status: _ignored, ...rest } = proposed;
  const kept: Json | undefined = type.hasStatus ? live['status'] : proposed['status'];
  return { ...rest, metadata, ...(kept === undefined ? {} : { status: kept }) };
}

/** A status write of a built-in kind may also change labels and the like; that of a custom kind may not. */
function statusOnly(
  proposed: KubeObject,
  live: KubeObject,
  type: ResourceType,
  metadata: KubeObject['metadata'],
): KubeObject {
  const { status: _old, ...rest } = live;
  const status = proposed['status'];
  const kept = type.custom ? identityOf(live, live, proposed.metadata.resourceVersion) : metadata;
  return { ...rest, metadata: kept, ...(status === undefined ? {} : { status }) };
}

function identityOf(
  proposed: KubeObject,
  live: KubeObject,
  resourceVersion = proposed.metadata.resourceVersion,
): KubeObject['metadata'] {
  const { name, namespace, creationTimestamp, deletionTimestamp } = live.metadata;
  const { generation, deletionGracePeriodSeconds } = live.metadata;
  return withMeta(proposed, {
    name,
    namespace,
    creationTimestamp,
    deletionTimestamp,
    generation,
    deletionGracePeriodSeconds,
    uid: proposed.metadata.uid || live.metadata.uid,
    resourceVersion: resourceVersion || undefined,
    managedFields: live.metadata.managedFields,
  }).metadata;
}

function nextGeneration(
  object: KubeObject,
  live: KubeObject,
  type: ResourceType,
): number | undefined {
  const generation = live.metadata.generation;
  if (generation === undefined || !specDiffers(object, live, type, sameJson)) return generation;
  return generation + 1;
}
