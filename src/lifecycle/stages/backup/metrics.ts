import { Cron } from 'croner';
import type { metricTable } from '../../../api/metrics.ts';
import { managedObjects } from '../../../api/names.ts';
import { claims } from '../../../kube/core-resources.ts';
import type { Metrics } from '../../../process/metrics.ts';
import { recordIn } from '../../model/mariadb/operation-record.ts';
import type { BackupReport } from '../../model/reports.ts';
import type { Observed } from '../../model/stage.ts';

export type RecordBackups = (observed: Observed, report: BackupReport) => void;

interface Figures {
  /** Seconds since 1970. */
  readonly last: number;
  /** Seconds. */
  readonly period: number;
}

/** Exports a failed restore and, with a schedule, the last verified backup's time and the schedule's period. */
export function createBackupMetrics(
  metrics: Pick<Metrics<typeof metricTable>, 'sample'>,
): RecordBackups {
  let figures: Figures | undefined;
  let failed: number | undefined;
  metrics.sample('multinic_database_last_backup_timestamp_seconds', {}, () => figures?.last);
  metrics.sample('multinic_database_backup_period_seconds', {}, () => figures?.period);
  metrics.sample('multinic_database_restore_failed', {}, () => failed);
  return (observed, report) => {
    figures = figuresOf(observed, report);
    failed = recordIn(observed).failedRestore ? 1 : 0;
  };
}

/** Before the first backup the age counts from the volume claim's creation. */
function figuresOf(observed: Observed, { lastBackup }: BackupReport): Figures | undefined {
  const { accepted, objects, now } = observed;
  const schedule = accepted.backup.value?.schedule;
  const since = objects.find(claims, managedObjects.backup)?.metadata.creationTimestamp;
  const at = lastBackup?.at ?? since;
  if (schedule === undefined || at === undefined) return undefined;
  const last = Math.min(Date.parse(at), now.getTime()) / 1000;
  return { last, period: longestPeriod(schedule, now) };
}

/** Returns the longest interval among the next ten runs, in seconds: schedules may skip weekends. */
function longestPeriod(schedule: string, now: Date): number {
  const times = new Cron(schedule, { timezone: 'UTC' }).nextRuns(10, now);
  const pauses = times.slice(1).map((time, at) => time.getTime() - (times[at] ?? time).getTime());
  return Math.max(0, ...pauses) / 1000;
}
