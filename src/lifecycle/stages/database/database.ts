import { managedObjects } from '../../../api/names.ts';
import { claims, secrets, services, statefulSets } from '../../../kube/core-resources.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Resource } from '../../../kube/resource.ts';
import type { DatabaseWanted, Problem } from '../../model/accepted.ts';
import { type Desired, desired } from '../../model/desired.ts';
import { credentialsRevision } from '../../model/mariadb/credentials-revision.ts';
import { imageOf, serverImage } from '../../model/mariadb/image-change.ts';
import { type Effects, effectsOf } from '../../model/mariadb/operation-effects.ts';
import { volumeNotices } from '../../model/mariadb/volume.ts';
import type { DatabaseReport } from '../../model/reports.ts';
import { type Observed, type Removal, type StagePlan, unchanged } from '../../model/stage.ts';
import { foreignFields, foreignFieldsText } from '../../recovery/foreign-fields.ts';
import { mayRecover } from '../../recovery/may-recover.ts';
import { claimOf, sizeFor } from './claim.ts';
import { foreign, isLegacy, isLegacyClaim, isManaged } from './ownership.ts';
import { whyNotRemoved } from './removal.ts';
import { lostAfterMs, reportOf } from './report.ts';
import { hasOtherPorts, serviceOf } from './service.ts';
import { statefulSetOf } from './stateful-set.ts';

/** Kinds removed with `enabled: false`. */
const serving: readonly Resource<KubeObject>[] = [statefulSets, services];

/** Plans StatefulSet, Service and volume claim for MariaDB. */
export function database(observed: Observed): StagePlan<DatabaseReport> {
  const { problems, value: wanted } = observed.accepted.database;
  if (problems) return unchanged(problems, reportOf(observed));
  if (!wanted) return withoutDatabase(observed);
  const { objects } = observed;
  const taken = foreignObjects(observed);
  const live = objects.find(claims, managedObjects.databaseClaim);
  if (taken.length > 0) return unchanged(taken, reportOf(observed));

  const { size, problems: sizeProblems } = sizeFor(live, wanted.storageSize);
  const effects = effectsOf(observed);
  const remove = replaced(observed, wanted, effects);
  const isGoing = (resource: Resource<KubeObject>) =>
    remove.some((one) => one.resource.kind === resource.kind);
  return {
    apply: [
      ...(isGoing(services) ? [] : [desired(services, serviceOf(observed, wanted))]),
      ...(isGoing(statefulSets) ? [] : server(observed, wanted, effects)),
      // The claim comes last: a refusal by its StorageClass must not block the other objects.
      claimOf(observed, managedObjects.databaseClaim, size),
    ],
    remove,
    problems: sizeProblems,
    notices: volumeNotices(observed),
    drifted: driftedIn(observed),
    report: reportOf(observed),
    ...requeueForLostPod(observed),
  };
}

/** Returns the StatefulSet if other managers added fields to the Pod template, for example `args`. */
function driftedIn({ objects }: Observed): readonly string[] {
  const live = objects.find(statefulSets, managedObjects.database);
  const added = live && isManaged(live) && !isLegacy(live) ? foreignFields(live) : undefined;
  return added ? [foreignFieldsText(`StatefulSet ${managedObjects.database}`, added)] : [];
}

/** Protection promises an unchanged database, including fields that lifecycle does not set. */
function removesAdded(observed: Observed): boolean {
  const { value } = observed.accepted.protection;
  return value?.preventsMutations === true && mayRecover(observed);
}

/** Plans the database's removal once the operator uses no database; the claim and the Secret stay. */
function withoutDatabase(observed: Observed): StagePlan<DatabaseReport> {
  const { objects, namespace, accepted } = observed;
  const live = serving.filter((resource) => {
    const found = objects.find(resource, managedObjects.database);
    return found !== undefined && isManaged(found);
  });
  const isExternal = accepted.controller.value?.inventory === 'external';
  const phase = isExternal ? 'External' : 'Disabled';
  const why = live.length === 0 ? undefined : whyNotRemoved(observed);
  if (why !== undefined) return unchanged([], { phase: 'Progressing', message: why });
  return {
    ...unchanged([], { phase }),
    remove: live.map((resource) => removal(resource, namespace)),
  };
}

function foreignObjects({ objects }: Observed): readonly Problem[] {
  const { database: name, databaseClaim } = managedObjects;
  const taken = serving.filter((resource) => {
    const live = objects.find(resource, name);
    return live !== undefined && !isManaged(live);
  });
  const claim = objects.find(claims, databaseClaim);
  const hasForeignClaim = claim !== undefined && !isManaged(claim) && !isLegacyClaim(claim);
  return [
    ...taken.map(({ kind }) => foreign(kind, name)),
    ...(hasForeignClaim ? [foreign(claims.kind, databaseClaim)] : []),
  ];
}

/** Returns objects to delete, recreated in the next round. */
function replaced(
  observed: Observed,
  wanted: DatabaseWanted,
  effects: Effects,
): readonly Removal[] {
  const { objects, namespace } = observed;
  const service = objects.find(services, managedObjects.database);
  return [
    ...replacedSet(observed, wanted, effects),
    ...(service && hasOtherPorts(service, wanted) ? [removal(services, namespace)] : []),
  ];
}

/**
 * Returns a legacy StatefulSet, or a StatefulSet with added fields under protection. Both stay until the passwords are
 * in our Secret and, if the image changes, until the operation replaces the server.
 */
function replacedSet(
  observed: Observed,
  wanted: DatabaseWanted,
  { keepsServer }: Effects,
): readonly Removal[] {
  const { objects, namespace } = observed;
  const set = objects.find(statefulSets, managedObjects.database);
  const login = credentialsRevision(objects.find(secrets, managedObjects.credentials));
  if (!set || login === undefined || keepsServer) return [];
  const next = serverImage(observed, wanted.image);
  if (next === imageOf(set) && next !== wanted.image) return [];
  if (isLegacy(set)) return [removal(statefulSets, namespace)];
  // The Pod stays, and the new StatefulSet replaces it.
  return driftedIn(observed).length > 0 && removesAdded(observed)
    ? [{ ...removal(statefulSets, namespace), propagationPolicy: 'Orphan' }]
    : [];
}

function removal(resource: Resource<KubeObject>, namespace: string): Removal {
  return { resource, ref: { namespace, name: managedObjects.database } };
}

/**
 * Returns the StatefulSet once the Secret exists; a StatefulSet in deletion or from the legacy operator is left
 * unchanged.
 */
function server(
  observed: Observed,
  wanted: DatabaseWanted,
  { keepsServer }: Effects,
): readonly Desired[] {
  const { objects } = observed;
  const live = objects.find(statefulSets, managedObjects.database);
  const revision = credentialsRevision(objects.find(secrets, managedObjects.credentials));
  if (revision === undefined) return [];
  if (live && (keepsServer || isLegacy(live) || live.metadata.deletionTimestamp)) return [];
  const image = serverImage(observed, wanted.image);
  return [desired(statefulSets, statefulSetOf(observed, wanted, { image, revision }))];
}

/** Requeues for a Pod in deletion, because an unreachable node causes no object change. */
function requeueForLostPod(observed: Observed): { readonly requeueAfterMs?: number } {
  const inMs = lostAfterMs(observed);
  return inMs === undefined || inMs <= 0 ? {} : { requeueAfterMs: inMs };
}
