import { managedObjects } from '../../../api/names.ts';
import { type Pod, type StatefulSet, secrets, statefulSets } from '../../../kube/core-resources.ts';
import { credentialsRevision } from '../../model/mariadb/credentials-revision.ts';
import { withoutBackup } from '../../model/mariadb/image-change.ts';
import { databasePodName, graceSeconds } from '../../model/mariadb/names.ts';
import { recordIn } from '../../model/mariadb/operation-record.ts';
import {
  crashText,
  databasePod,
  isReady,
  refusalText,
  serverVersion,
} from '../../model/mariadb/pod-state.ts';
import { whyNotRunning } from '../../model/pod-problem.ts';
import type { DatabaseReport } from '../../model/reports.ts';
import type { Observed } from '../../model/stage.ts';

/** Milliseconds beyond the grace period that a healthy node needs to stop a Pod. */
const lostMarginMs = 60_000;

/** Returns the database phase and its obstacle. */
export function reportOf(observed: Observed): DatabaseReport {
  const { objects, status } = observed;
  const live = objects.find(statefulSets, managedObjects.database);
  const pod = databasePod(observed);
  const version = serverVersion(pod) ?? status.databaseStatus?.version;
  const readyReplicas = live?.status?.readyReplicas ?? 0;
  return {
    ...stateOf(observed, live, pod),
    ...failureOf(observed, pod),
    readyReplicas,
    ...(version === undefined ? {} : { version }),
  };
}

/**
 * Returns milliseconds until a Pod in deletion counts as lost; negative: lost already; undefined: no Pod in deletion.
 */
export function lostAfterMs(observed: Observed): number | undefined {
  const { databaseEndingMs } = observed;
  if (databaseEndingMs === undefined) return undefined;
  return graceSeconds * 1000 + lostMarginMs - databaseEndingMs;
}

/** Ready takes both objects: the watch on Pods may lag behind that on StatefulSets, and the Pod has the version. */
function stateOf(
  { objects }: Observed,
  live: StatefulSet | undefined,
  pod: Pod | undefined,
): DatabaseReport {
  if (live) return { phase: isReady(pod) && isServing(live) ? 'Ready' : 'Progressing' };
  const { credentials } = managedObjects;
  const hasLogin = credentialsRevision(objects.find(secrets, credentials)) !== undefined;
  return { phase: 'Pending', ...(hasLogin ? {} : { message: `waits for Secret ${credentials}` }) };
}

function isServing({ metadata, status }: StatefulSet): boolean {
  const {
    observedGeneration = 0,
    readyReplicas = 0,
    currentRevision,
    updateRevision,
  } = status ?? {};
  const isCurrent = observedGeneration >= (metadata.generation ?? 0);
  return isCurrent && currentRevision === updateRevision && readyReplicas > 0;
}

/** A Pod on a lost node is never force-deleted: two servers on one volume destroy the data. */
function failureOf(observed: Observed, pod: Pod | undefined): DatabaseReport {
  const lostIn = lostAfterMs(observed);
  if (lostIn !== undefined && lostIn <= 0) {
    const node = pod?.spec?.nodeName ?? '';
    return {
      phase: 'Degraded',
      message: `Pod ${databasePodName} does not terminate, so node ${node} is probably lost; if that machine is certainly off, run: kubectl taint node ${node} node.kubernetes.io/out-of-service=nodeshutdown:NoExecute, or: kubectl -n ${observed.namespace} delete pod ${databasePodName} --force`,
    };
  }
  const refusal = refusalText(pod);
  if (refusal !== undefined)
    return { phase: 'Error', message: `MariaDB does not start: ${refusal}` };
  const failure = crashText(pod) ?? (pod && whyNotRunning(pod));
  if (failure === undefined) return {};
  const hint = `see kubectl -n ${observed.namespace} describe pod ${databasePodName}, and check spec.database.image and spec.database.resources`;
  const message = `MariaDB does not start: ${failure}; ${hint}${withoutBackupAdvice(observed)}`;
  return { phase: 'Degraded', message };
}

/** Returns advice for an image change waiting for a backup from a server that does not start. */
function withoutBackupAdvice(observed: Observed): string {
  const { operation } = recordIn(observed);
  if (operation?.kind !== 'upgrade' || operation.step !== 'backup') return '';
  return `; no backup is possible: ${withoutBackup(operation.request)}`;
}
