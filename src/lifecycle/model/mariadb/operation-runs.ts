import { createHash } from 'node:crypto';
import { managedObjects } from '../../../api/names.ts';
import type { Job } from '../../../kube/core-resources.ts';
import type { Observed } from '../stage.ts';
import { backupApp } from './names.ts';
import type { Operation } from './operation-record.ts';
import { failureOf, runResults } from './run-result.ts';

/** Result from a step's Job. */
export type Run =
  /** No Job, or a running Job. */
  | { readonly state: 'running' }
  | { readonly state: 'done'; readonly file: string; readonly at: string }
  /** The script says why it failed. */
  | { readonly state: 'failed'; readonly why: string; readonly at: string }
  /** The Job ended without a script message: evicted, killed, or at the deadline. */
  | { readonly state: 'lost'; readonly why: string; readonly at: string };

/** Returns a step's Job name; a lost run is repeated under a new name. */
export function jobNameOf({ operator }: Observed, operation: Operation): string {
  const { kind, request, step, startedAt, lostRuns = 0 } = operation;
  const hash = shortHash(operator.metadata.uid, kind, request, startedAt);
  return `mariadb-${kind}-${step}-${hash}-${lostRuns}`;
}

/** Returns ten hexadecimal digits hashed from the parts. */
function shortHash(...parts: readonly (string | number | undefined)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 10);
}

export function runOf(observed: Observed, operation: Operation): Run {
  const name = jobNameOf(observed, operation);
  const result = runResults(observed).find(({ job }) => job === name);
  if (result?.succeeded) {
    return { state: 'done', file: result.written?.file ?? '', at: result.endedAt };
  }
  if (result) {
    const state = result.isReported ? 'failed' : 'lost';
    return { state, why: result.reason, at: result.endedAt };
  }
  const why = failureOf(observed.jobs.find(({ metadata }) => metadata.name === name));
  return why === undefined
    ? { state: 'running' }
    : { state: 'lost', why, at: observed.now.toISOString() };
}

/** True for an operation's Job, by name. */
export function isOfOperation(name: string): boolean {
  return /^mariadb-(restore|rotation|upgrade)-/.test(name);
}

/** True for a Job of a restore, by name: its file is no new backup. */
export function isRestore(name: string): boolean {
  return name.startsWith('mariadb-restore-');
}

/** True for a Job that exchanges the tables, by name. */
export function isSwap(name: string): boolean {
  return name.startsWith('mariadb-restore-swap-');
}

/** True for a Job that tries a new image. */
export function isUpgradeCheck({ metadata }: Job): boolean {
  return metadata.name.startsWith('mariadb-upgrade-check-');
}

/** Returns the names of running backup Jobs, including Jobs created by users. */
export function runningBackups({ jobs, operator }: Observed): readonly string[] {
  return jobs
    .filter(
      ({ metadata }) => metadata.labels?.['app'] === backupApp && !isOfOperation(metadata.name),
    )
    .filter((job) => !hasEnded(job) && job.metadata.namespace === operator.metadata.namespace)
    .map(({ metadata }) => metadata.name)
    .toSorted();
}

/** True for a Job that succeeded or failed. */
export function hasEnded({ status }: Job): boolean {
  return (status?.conditions ?? []).some(
    ({ type, status: is }) => (type === 'Complete' || type === 'Failed') && is === 'True',
  );
}

/** True while operator Pods exist, also in deletion: each may write to the database. */
export function hasOperatorPods({ pods, namespace }: Observed): boolean {
  return pods.some(
    ({ metadata, status }) =>
      metadata.namespace === namespace &&
      metadata.labels?.['app'] === managedObjects.controller &&
      status?.phase !== 'Succeeded' &&
      status?.phase !== 'Failed',
  );
}
