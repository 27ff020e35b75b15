import { type Cluster, keyOfTarget, type Target, timestamp } from '../cluster.ts';
import { at, isList, sameJson } from '../objects/json.ts';
import { type KubeObject, keyOf, withMeta } from '../objects/object.ts';
import { conflict, notFound } from '../objects/status-error.ts';
import { type ResourceType, resourceOf, withFinalizers } from '../resources/resource-type.ts';

type Propagation = 'Background' | 'Foreground' | 'Orphan';

export interface DeleteOptions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly propagationPolicy?: Propagation | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly dryRun?: boolean | undefined;
}

/** What a delete led to: the object is gone, or marked and still there. */
export interface Deleted {
  readonly gone: boolean;
  readonly object: KubeObject;
}

/** The finalizers by which the garbage collector is asked to deal with dependents first. */
export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

/** Deletes an object, or marks it when finalizers or a grace period hold it. */
export function remove(cluster: Cluster, target: Target, options: DeleteOptions): Deleted {
  const { type } = target;
  const live = cluster.storage.get(resourceOf(type), keyOfTarget(target));
  if (!live) throw notFound(type, target.name);
  refuseOtherState(type, live, options);
  const held = withPropagation(live, type, options.propagationPolicy);
  const graceSeconds = grace(live, type, options.gracePeriodSeconds);
  if (graceSeconds === 0 && !isHeld(held)) {
    if (!options.dryRun) cluster.storage.remove(resourceOf(type), keyOf(live));
    return { gone: true, object: live };
  }
  const marked = mark(cluster, held, graceSeconds);
  if (options.dryRun || sameJson(marked, live)) return { gone: false, object: marked };
  return { gone: false, object: cluster.storage.put(resourceOf(type), marked) };
}

/** True for an object that is marked for deletion and that nothing holds any more. */
export function isDone(object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = object.metadata;
  return deletionTimestamp !== undefined && !isHeld(object) && deletionGracePeriodSeconds === 0;
}

/** Finalizers hold any object; a namespace has one of its own in `spec`. */
function isHeld(object: KubeObject): boolean {
  const own = object.kind === 'Namespace' ? at(object, 'spec', 'finalizers') : undefined;
  return (object.metadata.finalizers ?? []).length > 0 || (isList(own) && own.length > 0);
}

function refuseOtherState(type: ResourceType, live: KubeObject, options: DeleteOptions): void {
  const { name, uid, resourceVersion } = live.metadata;
  if (options.uid !== undefined && options.uid !== uid) {
    const why = `the UID in the precondition (${options.uid}) does not match the UID in record (${uid ?? ''}). The object might have been deleted and then recreated`;
    throw conflict(type, name, why);
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    const why = `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion ?? ''}). The object might have been modified`;
    throw conflict(type, name, why);
  }
}

function withPropagation(
  live: KubeObject,
  type: ResourceType,
  asked: Propagation | undefined,
): KubeObject {
  const policy = asked ?? type.strategy.defaultPropagation ?? 'Background';
  const own = type.strategy.deletionFinalizers ?? [];
  if (live.metadata.deletionTimestamp !== undefined && asked === undefined) return live;
  const kept = (live.metadata.finalizers ?? []).filter(
    (one) => asked === undefined || (one !== foregroundFinalizer && one !== orphanFinalizer),
  );
  const clean = withMeta(live, { finalizers: kept.length > 0 ? kept : undefined });
  if (policy === 'Foreground') return withFinalizers(clean, [...own, foregroundFinalizer]);
  if (policy === 'Orphan') return withFinalizers(clean, [...own, orphanFinalizer]);
  return withFinalizers(clean, own);
}

/** Seconds until a kubelet must have stopped a Pod; a second delete can only shorten them. */
function grace(live: KubeObject, type: ResourceType, asked: number | undefined): number {
  const longest = type.strategy.gracePeriodSeconds?.(live) ?? 0;
  if (longest === 0) return 0;
  const current = live.metadata.deletionGracePeriodSeconds;
  return current === undefined ? (asked ?? longest) : Math.min(current, asked ?? current);
}

function mark(cluster: Cluster, object: KubeObject, graceSeconds: number): KubeObject {
  const { deletionTimestamp, generation } = object.metadata;
  const first = deletionTimestamp === undefined;
  const marked = withMeta(object, {
    deletionTimestamp: first ? timestamp(cluster, graceSeconds * 1000) : deletionTimestamp,
    deletionGracePeriodSeconds: graceSeconds,
    generation: first && generation !== undefined ? generation + 1 : generation,
  });
  return object.kind === 'Namespace' ? { ...marked, status: { phase: 'Terminating' } } : marked;
}
