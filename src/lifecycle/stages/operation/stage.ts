import { annotations, managedObjects } from '../../../api/names.ts';
import { claims, jobs, secrets, statefulSets } from '../../../kube/core-resources.ts';
import type { DatabaseWanted, Problem } from '../../model/accepted.ts';
import { type Desired, desired, ownedBy } from '../../model/desired.ts';
import { failedUpgrade, imageOf, withoutBackup } from '../../model/mariadb/image-change.ts';
import { loginOf } from '../../model/mariadb/login.ts';
import { retentionOf } from '../../model/mariadb/operation-effects.ts';
import type { Operation } from '../../model/mariadb/operation-record.ts';
import { hasEnded, isUpgradeCheck, jobNameOf } from '../../model/mariadb/operation-runs.ts';
import { databasePod, isReady } from '../../model/mariadb/pod-state.ts';
import type { OperationReport } from '../../model/reports.ts';
import type { Notice, Observed, Removal, StagePlan } from '../../model/stage.ts';
import { jobSpecOf, type Task } from '../backup/job.ts';
import { answerOf, restoreRequest, restoreTask } from '../backup/restore.ts';
import { workLabels } from '../backup/work-job.ts';
import { checkJobSpec } from './check-image.ts';
import { type OperationState, operationOf } from './operation.ts';

/** Seconds until a finished Job is deleted: for restores, to keep the log; for upgrades, until the next attempt. */
const ttlSeconds = { restore: 86_400, rotation: 3600, upgrade: 3600 } as const;

/** Plans the annotation on MariaDB's claim, and the present step's Job. */
export function operation(observed: Observed): StagePlan<OperationReport> {
  const state = operationOf(observed);
  const claim = observed.objects.find(claims, managedObjects.databaseClaim);
  const { text, operation: current } = state;
  const isNoted = text !== undefined && claim !== undefined;
  return {
    ...(isNoted
      ? { note: { resource: claims, object: claim, annotation: annotations.operation, text } }
      : {}),
    apply: [],
    remove: current ? [] : unneededChecks(observed),
    create: current && text === undefined ? jobsOf(observed, current) : [],
    problems: problemsOf(observed),
    notices: noticesOf(observed, state),
    report: { ...reportOf(state), ...answerTo(observed, state) },
    ...requeueAtDeadline(observed, state),
  };
}

/** Running checks of images absent from the spec: an unpullable image would reserve CPU and memory for an hour. */
function unneededChecks({ jobs: all, accepted, namespace }: Observed): readonly Removal[] {
  const wanted = accepted.database.value?.image;
  return all
    .filter((job) => job.metadata.namespace === namespace && isUpgradeCheck(job) && !hasEnded(job))
    .filter(({ metadata }) => metadata.annotations?.[annotations.operationRequest] !== wanted)
    .map(({ metadata: { name } }) => ({ resource: jobs, ref: { namespace, name } }));
}

function answerTo(
  observed: Observed,
  { operation: current }: OperationState,
): Pick<OperationReport, 'answer'> {
  const answer = current ? undefined : answerOf(observed);
  return answer === undefined ? {} : { answer };
}

/** A deadline passes without any object change. */
function requeueAtDeadline(
  { now }: Observed,
  { operation: current }: OperationState,
): { readonly requeueAfterMs?: number } {
  const inMs = current ? Date.parse(current.deadline) - now.getTime() : -1;
  return inMs < 0 ? {} : { requeueAfterMs: inMs + 1 };
}

function problemsOf(observed: Observed): readonly Problem[] {
  const request = restoreRequest(observed);
  return request && 'field' in request ? [request] : [];
}

function jobsOf(observed: Observed, current: Operation): readonly Desired[] {
  const server = serverOf(observed);
  const task = taskOf(current);
  if (!server || !task || !loginOf(observed.objects.find(secrets, managedObjects.credentials))) {
    return [];
  }
  if (task !== 'check' && !isReady(databasePod(observed))) return [];
  const { operator, namespace } = observed;
  const { kind, request } = current;
  const retention = retentionOf(observed);
  const spec =
    task === 'check'
      ? checkJobSpec(observed, server, request)
      : jobSpecOf(observed, server, { work: task, image: server.image, retention });
  const object = {
    metadata: {
      name: jobNameOf(observed, current),
      namespace,
      labels: workLabels(observed),
      annotations: { [annotations.operationRequest]: request },
      ownerReferences: [ownedBy(operator)],
    },
    spec: { ...spec, ttlSecondsAfterFinished: ttlSeconds[kind] },
  };
  return [desired(jobs, object)];
}

function taskOf({ kind, step, request }: Operation): Task | 'check' | undefined {
  switch (`${kind} ${step}`) {
    case 'restore load':
      return { task: 'load', ...restoreTask(request) };
    case 'restore swap':
      return { task: 'swap' };
    case 'upgrade backup':
      return { task: 'backup', suffix: '-before-upgrade' };
    case 'upgrade check':
      return 'check';
    default:
      return undefined;
  }
}

/** Returns the running server; during an operation the spec may be missing or unusable. */
function serverOf({ objects, accepted }: Observed): DatabaseWanted | undefined {
  const live = objects.find(statefulSets, managedObjects.database);
  const image = live && imageOf(live);
  if (image === undefined) return undefined;
  const { value } = accepted.database;
  const resources = value?.resources ?? {};
  const service = value?.service ?? { type: 'ClusterIP', port: 3306 };
  return { image, storageSize: value?.storageSize ?? '', resources, service };
}

function noticesOf(observed: Observed, state: OperationState): readonly Notice[] {
  const { failedRestore, unreadable } = state;
  return [
    ...(unreadable === undefined
      ? []
      : [{ condition: 'Stalled', reason: 'OperationUnreadable', message: unreadable } as const]),
    ...(failedRestore
      ? [
          {
            condition: 'Degraded',
            reason: 'RestoreFailed',
            message: `the restore of ${failedRestore.file} failed: ${failedRestore.failure}; backups are kept until a restore succeeds`,
          } as const,
        ]
      : []),
    ...upgradeNotices(observed),
  ];
}

function upgradeNotices(observed: Observed): readonly Notice[] {
  const { value: wanted } = observed.accepted.database;
  const live = observed.objects.find(statefulSets, managedObjects.database);
  const from = live && imageOf(live);
  if (!wanted || from === undefined || from === wanted.image) return [];
  const failed = failedUpgrade(observed, wanted.image);
  if (!failed) return [];
  const { job, why } = failed;
  const isBackup = job.startsWith('mariadb-upgrade-backup-');
  const what = isBackup ? 'the backup before the change failed' : 'the new image cannot serve';
  const advice = isBackup ? `; ${withoutBackup(wanted.image)}` : '';
  const message = `spec.database.image "${wanted.image}" waits, and ${from} still runs: ${what}: ${why}; correct this and delete Job ${job}, or wait an hour for the next attempt${advice}`;
  return [{ condition: 'Degraded', reason: isBackup ? 'BackupFailed' : 'ImageUnusable', message }];
}

function reportOf({ operation: current, why, waiting }: OperationState): OperationReport {
  if (!current) return { waiting };
  const { kind, request, step, startedAt, deadline } = current;
  const message = `${kind} "${request}", step ${step}${why === undefined ? '' : `: ${why}`}`;
  return { operation: { kind, request, step, startedAt, deadline }, message, waiting };
}
