import { annotations, managedObjects } from '../../../api/names.ts';
import { claims, cronJobs, secrets } from '../../../kube/core-resources.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Resource } from '../../../kube/resource.ts';
import type { BackupWanted, DatabaseWanted } from '../../model/accepted.ts';
import { type Desired, desired, managedLabels, ownedBy } from '../../model/desired.ts';
import { serverImage } from '../../model/mariadb/image-change.ts';
import { loginOf } from '../../model/mariadb/login.ts';
import { effectsOf, retentionOf } from '../../model/mariadb/operation-effects.ts';
import { isOfOperation, isRestore } from '../../model/mariadb/operation-runs.ts';
import { allRuns, type RunResult, runResults } from '../../model/mariadb/run-result.ts';
import { notedVolume } from '../../model/mariadb/volume.ts';
import { parseQuantity } from '../../model/quantity.ts';
import type { BackupReport } from '../../model/reports.ts';
import {
  type Notice,
  type Observed,
  type Removal,
  type StagePlan,
  unchanged,
} from '../../model/stage.ts';
import { type ClaimSize, claimOf, requestedSize, sizeFor } from '../database/claim.ts';
import { foreign, isManaged } from '../database/ownership.ts';
import { whyNotRemoved } from '../database/removal.ts';
import { jobSpecOf, type WorkOptions } from './job.ts';
import { lastRestore, notedRequest } from './restore.ts';
import { workLabels } from './work-job.ts';

/** Plans the backup CronJob and claim. */
export function backup(observed: Observed): StagePlan<BackupReport> {
  const { backup: checked, database: checkedDatabase } = observed.accepted;
  const problems = checked.problems ?? checkedDatabase.problems;
  if (problems) return unchanged(problems, reportOf(observed));
  const { value: wanted } = checked;
  const { value: database } = checkedDatabase;
  if (!wanted || !database) return withoutDatabase(observed);
  const taken = foreignObjects(observed);
  if (taken.length > 0) return unchanged(taken, reportOf(observed));
  return withDatabase(observed, wanted, database);
}

function withDatabase(
  observed: Observed,
  wanted: BackupWanted,
  database: DatabaseWanted,
): StagePlan<BackupReport> {
  const options = { wanted, database, image: serverImage(observed, database.image) };
  const isScheduled = wanted.schedule !== undefined;
  const { size, problems } = claimSize(observed, wanted, database);
  return {
    apply: [
      ...(isScheduled && hasLogin(observed) ? [cronJobOf(observed, options)] : []),
      backupClaim(observed, size),
    ],
    remove: isScheduled ? [] : ownCronJob(observed),
    problems,
    notices: noticesOf(observed),
    report: reportOf(observed),
  };
}

/** Without a login no Pod could start. */
function hasLogin({ objects }: Observed): boolean {
  return loginOf(objects.find(secrets, managedObjects.credentials)) !== undefined;
}

interface Options {
  readonly wanted: BackupWanted;
  readonly database: DatabaseWanted;
  /** Image of the running server. */
  readonly image: string;
}

/** Plans removal of the CronJob; the volume and its files stay. */
function withoutDatabase(observed: Observed): StagePlan<BackupReport> {
  const remove = whyNotRemoved(observed) === undefined ? ownCronJob(observed) : [];
  return { ...unchanged([], reportOf(observed)), remove };
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
    retention: retentionOf(observed),
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
      ...timeZoneOf(observed),
      suspend: effectsOf(observed).suspendsBackups,
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

/** Since Kubernetes 1.25; earlier versions use the time zone of kube-controller-manager. */
function timeZoneOf({ kubernetesMinor }: Observed): { readonly timeZone?: string } {
  return kubernetesMinor >= 25 ? { timeZone: 'Etc/UTC' } : {};
}

/** An existing claim keeps the present size unless the spec has a size. */
function claimSize(
  { objects }: Observed,
  wanted: BackupWanted,
  database: DatabaseWanted,
): ClaimSize {
  const live = objects.find(claims, managedObjects.backup);
  if (wanted.storageSize !== undefined) return sizeFor(live, wanted.storageSize, sizeField);
  return { size: requestedSize(live) ?? defaultSize(database.storageSize), problems: [] };
}

function backupClaim(observed: Observed, size: string): Desired {
  const notes = notesOf({
    [annotations.restore]: notedRequest(observed),
    [annotations.databaseVolume]: notedVolume(observed),
  });
  return claimOf(observed, managedObjects.backup, size, { notes, field: sizeField });
}

function notesOf(all: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const known = Object.entries(all).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return Object.fromEntries(known);
}

const sizeField = 'spec.database.backup.storageSize';

/** Two copies of the data and 1Gi: a dump is about as large as the data, and the next dump needs equal room. */
function defaultSize(storageSize: string): string {
  const bytes = parseQuantity(storageSize)?.nano ?? 0n;
  const gi = 2n ** 30n * 1_000_000_000n;
  return `${(2n * bytes + gi - 1n) / gi + 1n}Gi`;
}

function reportOf(observed: Observed): BackupReport {
  const last = lastBackup(observed);
  const restored = lastRestore(observed);
  return {
    ...(last ? { lastBackup: last } : {}),
    ...(restored ? { lastRestore: restored } : {}),
  };
}

/** A file on an earlier backup volume is gone, thus no longer verified. */
function lastBackup(observed: Observed): BackupReport['lastBackup'] {
  const newest = newestBackup(observed);
  return newest && isGone(observed, newest) ? { ...newest, verified: false } : newest;
}

/** True if the backup claim is newer than the backup. */
function isGone(
  { objects }: Observed,
  { at = '' }: NonNullable<BackupReport['lastBackup']>,
): boolean {
  const since = objects.find(claims, managedObjects.backup)?.metadata.creationTimestamp ?? '';
  return Date.parse(since) > Date.parse(at);
}

/** Returns the newest verified backup, from a finished Pod or from the previous status. */
function newestBackup(observed: Observed): BackupReport['lastBackup'] {
  const before = observed.status.databaseStatus?.lastBackup;
  const written = runResults(observed).find(
    ({ job, written: one }) => one?.verified === true && !isRestore(job),
  )?.written;
  if (!written) return before;
  const { at, file, bytes, verified } = written;
  const former = before?.at === undefined ? undefined : Date.parse(before.at);
  // An earlier release stored the time of a node's clock, possibly in the future.
  const isOlder = former === undefined || former > observed.now.getTime();
  return isOlder || Date.parse(at) > former ? { at, file, bytes, verified } : before;
}

/** Operations report their own failures. */
function noticesOf(observed: Observed): readonly Notice[] {
  const newest = allRuns(observed).find(({ job }) => !isOfOperation(job));
  const hasFailed =
    newest !== undefined && !newest.written && (!newest.succeeded || newest.isReported);
  const measured = runResults(observed).find(({ written }) => written?.tables !== undefined);
  return [
    ...(hasFailed ? [failedBackup(newest)] : []),
    ...goneBackup(observed),
    ...(measured?.written?.tables === 0 && !isRestoredSince(observed, measured.endedAt)
      ? [emptyDatabase(measured)]
      : []),
  ];
}

/** Without a schedule no CronJob exists, and the user makes backups elsewhere. */
function goneBackup(observed: Observed): readonly Notice[] {
  const last = newestBackup(observed);
  const isScheduled = observed.accepted.backup.value?.schedule !== undefined;
  if (!isScheduled || !last || !isGone(observed, last)) return [];
  return [
    {
      condition: 'Degraded',
      reason: 'BackupFailed',
      message: `claim ${managedObjects.backup} was created after the last backup, so ${last.file} is gone with the earlier volume; make a backup: kubectl -n ${observed.namespace} create job --from=cronjob/${managedObjects.backup} by-hand`,
    },
  ];
}

function isRestoredSince(observed: Observed, time: string): boolean {
  const { at, result } = lastRestore(observed) ?? {};
  return at !== undefined && result === 'Succeeded' && Date.parse(at) >= Date.parse(time);
}

function emptyDatabase({ job, written: one }: RunResult): Notice {
  return {
    condition: 'Degraded',
    reason: 'TablesMissing',
    message: `the database had none of the inventory's tables when Job ${job} wrote ${one?.file}; restore a backup: set ${annotations.restore} to latest; in a new installation check that the operator runs, and make a backup`,
  };
}

function failedBackup({ job, reason, isFull }: RunResult): Notice {
  return {
    condition: 'Degraded',
    reason: isFull ? 'BackupVolumeFull' : 'BackupFailed',
    message: `the last backup failed: ${reason}; earlier backups are unchanged; see the log of Job ${job}`,
  };
}
