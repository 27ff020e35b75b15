import { managedObjects } from '../../api/names.ts';
import { claims, secrets, services, statefulSets } from '../../kube/core-resources.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import type { DatabaseWanted, Problem } from '../accept/accepted.ts';
import { type ImageChange, imageChange } from '../backup/upgrade-backup.ts';
import { credentialsRevision } from '../credentials/revision.ts';
import { type Desired, desired } from '../objects/desired.ts';
import type { DatabaseReport } from '../reports.ts';
import { type Observed, type Removal, type StagePlan, unchanged } from '../stage.ts';
import { claimOf, sizeProblem } from './claim.ts';
import { foreign, isLegacy, isLegacyClaim, isManaged } from './ownership.ts';
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
  const size = sizeProblem(live, wanted.storageSize);
  const found = size === undefined ? taken : [...taken, size];
  if (found.length > 0) return unchanged(found, reportOf(observed));

  const change = imageChange(observed, wanted.image);
  const remove = replaced(observed, wanted, change);
  const isGoing = (resource: Resource<KubeObject>) =>
    remove.some((one) => one.resource.kind === resource.kind);
  return {
    apply: [
      ...(isGoing(services) ? [] : [desired(services, serviceOf(observed, wanted))]),
      ...(isGoing(statefulSets) ? [] : server(observed, wanted, change)),
      // The claim comes last: a refusal by its StorageClass must not block the other objects.
      claimOf(observed, managedObjects.databaseClaim, wanted.storageSize),
    ],
    remove,
    problems: [],
    notices: [],
    report: reportOf(observed, change),
    ...requeueForLostPod(observed),
  };
}

/** Plans removal of the database; the claim and the Secret stay. */
function withoutDatabase(observed: Observed): StagePlan<DatabaseReport> {
  const { objects, namespace, accepted } = observed;
  const remove = serving.flatMap((resource) => {
    const live = objects.find(resource, managedObjects.database);
    return live && isManaged(live) ? [removal(resource, namespace)] : [];
  });
  const isExternal = accepted.controller.value?.inventory === 'external';
  return { ...unchanged([], { phase: isExternal ? 'External' : 'Disabled' }), remove };
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

/**
 * Returns legacy objects to delete, recreated in the next round. The legacy StatefulSet stays until its passwords are
 * in our Secret and, if the image changes, until a backup is verified.
 */
function replaced(
  { objects, namespace }: Observed,
  wanted: DatabaseWanted,
  change: ImageChange | undefined,
): readonly Removal[] {
  const { database: name, credentials } = managedObjects;
  const set = objects.find(statefulSets, name);
  const service = objects.find(services, name);
  const isPrepared = credentialsRevision(objects.find(secrets, credentials)) !== undefined;
  const mayGo = isPrepared && (change === undefined || change.backup === 'verified');
  return [
    ...(set && isLegacy(set) && mayGo ? [removal(statefulSets, namespace)] : []),
    ...(service && hasOtherPorts(service, wanted) ? [removal(services, namespace)] : []),
  ];
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
  change: ImageChange | undefined,
): readonly Desired[] {
  const { objects } = observed;
  const live = objects.find(statefulSets, managedObjects.database);
  const revision = credentialsRevision(objects.find(secrets, managedObjects.credentials));
  if (revision === undefined) return [];
  if (live && (isLegacy(live) || live.metadata.deletionTimestamp)) return [];
  const image = change && change.backup !== 'verified' ? change.from : wanted.image;
  return [desired(statefulSets, statefulSetOf(observed, wanted, { image, revision }))];
}

/** Requeues for a Pod in deletion, because an unreachable node causes no object change. */
function requeueForLostPod(observed: Observed): { readonly requeueAfterMs?: number } {
  const inMs = lostAfterMs(observed);
  return inMs === undefined || inMs <= 0 ? {} : { requeueAfterMs: inMs };
}
