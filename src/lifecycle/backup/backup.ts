import { annotations, managedObjects } from '../../api/names.ts';
import { claims, cronJobs, jobs, secrets } from '../../kube/core-resources.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import type { BackupWanted, DatabaseWanted, Problem } from '../accept/accepted.ts';
import { loginOf } from '../credentials/login.ts';
import { claimOf, isLess, requestedSize } from '../database/claim.ts';
import { foreign, isManaged } from '../database/ownership.ts';
import { databasePod, isReady } from '../database/pod-state.ts';
import { type Desired, desired, managedLabels, ownedBy } from '../objects/desired.ts';
import type { BackupReport } from '../reports.ts';
import { type Notice, type Observed, type Removal, type StagePlan, unchanged } from '../stage.ts';
import { jobSpecOf, type WorkOptions, workLabels } from './job.ts';
import {
  isHandled,
  lastRestore,
  notedRequest,
  type RestoreRequest,
  restoreRequest,
} from './restore.ts';
import { type RunResult, runResults } from './run-result.ts';
import {
  type ImageChange,
  imageChange,
  upgradeBackupTtlSeconds,
  withoutBackup,
} from './upgrade-backup.ts';

/** A finished restore Job is kept for a day for its log. */
const restoreTtlSeconds = 86_400;

/** Plans the backup CronJob and claim, and Jobs for restores and backups before an upgrade. */
export function backup(observed: Observed): StagePlan<BackupReport> {
  const { backup: checked, database: checkedDatabase } = observed.accepted;
  const problems = checked.problems ?? checkedDatabase.problems;
  if (problems) return unchanged(problems, reportOf(observed, undefined));
  const { value: wanted } = checked;
  const { value: database } = checkedDatabase;
  if (!wanted || !database) return withoutDatabase(observed);
  const taken = foreignObjects(observed);
  if (taken.length > 0) return unchanged(taken, reportOf(observed, undefined));
  return withDatabase(observed, wanted, database);
}

function withDatabase(
  observed: Observed,
  wanted: BackupWanted,
  database: DatabaseWanted,
): StagePlan<BackupReport> {
  const { restore, problems } = wantedRestore(observed);
  const report = reportOf(observed, restore);
  const change = imageChange(observed, database.image);
  const image = change && change.backup !== 'verified' ? change.from : database.image;
  const options = { wanted, database, image };
  const isScheduled = wanted.schedule !== undefined;
  return {
    apply: [
      ...(isScheduled && hasLogin(observed) ? [cronJobOf(observed, options)] : []),
      backupClaim(observed, database, restore),
    ],
    remove: isScheduled ? [] : ownCronJob(observed),
    create: jobsOf(observed, options, restore, change),
    problems,
    notices: noticesOf(observed, change),
    report,
  };
}

/** Without a login no Pod could start. */
function hasLogin({ objects }: Observed): boolean {
  return loginOf(objects.find(secrets, managedObjects.credentials)) !== undefined;
}

function wantedRestore(observed: Observed): {
  readonly restore?: RestoreRequest;
  readonly problems: readonly Problem[];
} {
  const request = restoreRequest(observed);
  if (!request) return { problems: [] };
  return 'field' in request ? { problems: [request] } : { restore: request, problems: [] };
}

interface Options {
  readonly wanted: BackupWanted;
  readonly database: DatabaseWanted;
  /** Image of the running server. */
  readonly image: string;
}

/** Plans removal of the CronJob; the volume and its files stay. */
function withoutDatabase(observed: Observed): StagePlan<BackupReport> {
  return { ...unchanged([], reportOf(observed, undefined)), remove: ownCronJob(observed) };
}

function ownCronJob({ objects, namespace }: Observed): readonly Removal[] {
  const live = objects.find(cronJobs, managedObjects.backup);
  if (!live || !isManaged(live)) return [];
  return [{ resource: cronJobs, ref: { namespace, name: managedObjects.backup } }];
}

function foreignObjects({ objects }: Observed) {
  const both: readonly Resource<KubeObject>[] = [cronJobs, claims];
  return both.flatMap((resource) => {
    const live = objects.find(resource, managedObjects.backup);
    return live && !isManaged(live) ? [foreign(resource.kind, managedObjects.backup)] : [];
  });
}

function cronJobOf(observed: Observed, { wanted, database, image }: Options): Desired {
  const { operator, namespace } = observed;
  const work: WorkOptions = {
    work: { task: 'backup', suffix: '' },
    image,
    retention: wanted.retention,
  };
  return desired(cronJobs, {
    metadata: {
      name: managedObjects.backup,
      namespace,
      labels: { ...managedLabels(operator), app: managedObjects.backup },
      ownerReferences: [ownedBy(operator)],
    },
    spec: {
      schedule: wanted.schedule ?? '',
      suspend: false,
      concurrencyPolicy: 'Forbid',
      startingDeadlineSeconds: 3600,
      successfulJobsHistoryLimit: 1,
      failedJobsHistoryLimit: 1,
      jobTemplate: {
        metadata: { labels: workLabels(observed) },
        spec: jobSpecOf(observed, database, work),
      },
    },
  });
}

/** Returns a claim as large as the database's, never smaller than before. */
function backupClaim(
  observed: Observed,
  { storageSize }: DatabaseWanted,
  restore: RestoreRequest | undefined,
): Desired {
  const live = observed.objects.find(claims, managedObjects.backup);
  const before = requestedSize(live);
  const size = before !== undefined && isLess(storageSize, before) ? before : storageSize;
  const noted = notedRequest(observed, restore);
  const notes = noted === undefined ? {} : { [annotations.restore]: noted };
  return claimOf(observed, managedObjects.backup, size, notes);
}

function jobsOf(
  observed: Observed,
  options: Options,
  restore: RestoreRequest | undefined,
  change: ImageChange | undefined,
): readonly Desired[] {
  if (!hasLogin(observed) || !isReady(databasePod(observed))) return [];
  const { image, wanted } = options;
  const common = { image, retention: wanted.retention };
  const make = (name: string, ttl: number, work: WorkOptions['work']) =>
    jobOf(observed, options, { name, ttl, work: { ...common, work } });
  return [
    ...(change?.backup === 'pending'
      ? [make(change.job, upgradeBackupTtlSeconds, { task: 'backup', suffix: '-before-upgrade' })]
      : []),
    ...(restore && !isHandled(observed, restore.request)
      ? [make(restore.job, restoreTtlSeconds, { task: 'restore', file: restore.file })]
      : []),
  ];
}

interface JobOptions {
  readonly name: string;
  /** Seconds until a finished Job is deleted. */
  readonly ttl: number;
  readonly work: WorkOptions;
}

function jobOf(
  observed: Observed,
  { database }: Options,
  { name, ttl, work }: JobOptions,
): Desired {
  const { operator, namespace } = observed;
  return desired(jobs, {
    metadata: {
      name,
      namespace,
      labels: workLabels(observed),
      ownerReferences: [ownedBy(operator)],
    },
    spec: { ...jobSpecOf(observed, database, work), ttlSecondsAfterFinished: ttl },
  });
}

function reportOf(observed: Observed, restore: RestoreRequest | undefined): BackupReport {
  const last = lastBackup(observed);
  const restored = lastRestore(observed, restore);
  return {
    ...(last ? { lastBackup: last } : {}),
    ...(restored ? { lastRestore: restored } : {}),
  };
}

/** Returns the newest verified backup, from a finished Pod or from the previous status. */
function lastBackup(observed: Observed): BackupReport['lastBackup'] {
  const before = observed.status.databaseStatus?.lastBackup;
  const written = runResults(observed).find(
    ({ job, written: one }) => one?.verified === true && !isRestore(job),
  )?.written;
  if (!written) return before;
  const { at, file, bytes, verified } = written;
  const isNewer = before?.at === undefined || Date.parse(at) > Date.parse(before.at);
  return isNewer ? { at, file, bytes, verified } : before;
}

function isRestore(job: string): boolean {
  return job.startsWith('mariadb-restore-');
}

function noticesOf(observed: Observed, change: ImageChange | undefined): readonly Notice[] {
  if (change?.backup === 'failed') {
    const { from, to, job, reason } = change;
    return [
      {
        condition: 'Degraded',
        reason: 'BackupFailed',
        message: `spec.database.image "${to}" waits, and ${from} still runs: the backup before the change failed: ${reason}; correct this and delete Job ${job}, or wait an hour for the next attempt; ${withoutBackup(change)}`,
      },
    ];
  }
  const newest = runResults(observed).find(({ job }) => !isRestore(job));
  return newest && !newest.written ? [failedBackup(newest)] : [];
}

function failedBackup({ job, reason }: RunResult): Notice {
  return {
    condition: 'Degraded',
    reason: 'BackupFailed',
    message: `the last backup failed: ${reason}; earlier backups are unchanged; see the log of Job ${job}`,
  };
}
