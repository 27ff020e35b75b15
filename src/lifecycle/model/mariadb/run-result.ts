import * as z from 'zod';
import type { Job, Pod } from '../../../kube/core-resources.ts';
import type { Observed } from '../stage.ts';
import { backupApp, jobNameLabels, workContainer } from './names.ts';

const written = z.object({
  file: z.string(),
  bytes: z.int(),
  at: z.iso.datetime(),
  verified: z.boolean(),
  rows: z.int(),
  /** Backups: number of the inventory's tables in the dump. */
  tables: z.int().optional(),
  /** Missing accounts in DEFINER clauses, replaced by the backup account. */
  definers: z.array(z.string()).optional(),
});

/** Line written by the script on success. */
type Written = z.infer<typeof written>;

/** Result of one Pod running the backup script. */
export interface RunResult {
  readonly job: string;
  /** When the API server created the Pod, RFC 3339. */
  readonly createdAt: string;
  /** RFC 3339. */
  readonly endedAt: string;
  /** Undefined: the run failed, made no file, or its Pod is gone. */
  readonly written?: Written;
  readonly succeeded: boolean;
  /** True: the backup volume has no room for the dump. */
  readonly isFull: boolean;
  /** Failure reason. */
  readonly reason: string;
  /** True if the script ended by itself; false for an eviction, a kill or the Job's deadline. */
  readonly isReported: boolean;
}

/** Returns finished runs, newest first by the API server's clock, because a node's clock may be wrong. */
export function runResults({ pods, namespace, now }: Observed): readonly RunResult[] {
  return pods
    .filter(({ metadata }) => metadata.namespace === namespace)
    .filter(({ metadata }) => metadata.labels?.['app'] === backupApp)
    .flatMap((pod) => resultOf(pod, now) ?? [])
    .toSorted(newestFirst);
}

/** Returns finished runs and ended Jobs without a finished Pod, as at the Job's deadline, newest first. */
export function allRuns(observed: Observed): readonly RunResult[] {
  const results = runResults(observed);
  const withPod = new Set(results.map(({ job }) => job));
  const withoutPod = observed.jobs
    .filter(
      ({ metadata: { namespace, name } }) => namespace === observed.namespace && !withPod.has(name),
    )
    .filter(({ metadata }) => metadata.labels?.['app'] === backupApp)
    .flatMap((job) => resultOfJob(job) ?? []);
  return [...results, ...withoutPod].toSorted(newestFirst);
}

function resultOfJob(job: Job): RunResult | undefined {
  const reason = failureOf(job);
  const conditions = job.status?.conditions ?? [];
  const succeeded = conditions.some(({ type, status }) => type === 'Complete' && status === 'True');
  if (reason === undefined && !succeeded) return undefined;
  const at = createdAt(job);
  return {
    job: job.metadata.name,
    createdAt: at,
    endedAt: at,
    reason: reason ?? '',
    succeeded,
    isFull: false,
    isReported: false,
  };
}

function newestFirst(a: RunResult, b: RunResult): number {
  return Date.parse(b.createdAt) - Date.parse(a.createdAt);
}

function resultOf(pod: Pod, now: Date): RunResult | undefined {
  const { status } = pod;
  const container = status?.containerStatuses?.find(({ name }) => name === workContainer);
  const ended = container?.state?.terminated;
  if (ended) return resultOfContainer(pod, ended, now);
  // For example an evicted Pod, whose container never ran.
  if (status?.phase !== 'Failed') return undefined;
  const reason = status.message ?? status.reason ?? 'the Pod failed';
  return {
    job: jobOf(pod),
    createdAt: createdAt(pod),
    endedAt: createdAt(pod),
    reason,
    succeeded: false,
    isFull: false,
    isReported: false,
  };
}

/** Exit status of the script for a full backup volume. */
const volumeFull = 8;
/** Exit statuses from here on: the shell ended by a signal. */
const signalled = 128;

type Terminated = NonNullable<
  NonNullable<
    NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]['state']
  >['terminated']
>;

function resultOfContainer(
  pod: Pod,
  { message, exitCode, finishedAt }: Terminated,
  now: Date,
): RunResult {
  const text = message?.trim() ?? '';
  const result = exitCode === 0 ? writtenIn(text) : undefined;
  const reason = text || `the container exited with status ${exitCode}`;
  const { creationTimestamp } = pod.metadata;
  const endedAt = credible(finishedAt ?? createdAt(pod), creationTimestamp, now);
  const isReported = text !== '' && exitCode < signalled;
  const succeeded = exitCode === 0;
  return {
    job: jobOf(pod),
    createdAt: creationTimestamp ?? endedAt,
    endedAt,
    reason,
    succeeded,
    isFull: exitCode === volumeFull,
    isReported,
    ...(result ? { written: { ...result, at: credible(result.at, creationTimestamp, now) } } : {}),
  };
}

/** Returns the name of a Pod's Job; '': not from a Job. */
export function jobOf({ metadata }: Pod): string {
  return jobNameLabels.map((label) => metadata.labels?.[label]).find(Boolean) ?? '';
}

function createdAt({ metadata }: Pod | Job): string {
  return metadata.creationTimestamp ?? new Date(0).toISOString();
}

/** A time of a node's clock that is earlier than the Pod or in the future is replaced by the Pod's creation. */
function credible(at: string, created: string | undefined, now: Date): string {
  if (created === undefined) return at;
  const isCredible = Date.parse(at) >= Date.parse(created) && Date.parse(at) <= now.getTime();
  return isCredible ? at : created;
}

function writtenIn(text: string): Written | undefined {
  try {
    return written.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Returns the message of a failed Job, for example at its deadline; undefined: not failed. */
export function failureOf(job: Job | undefined): string | undefined {
  const failed = job?.status?.conditions?.find(
    ({ type, status }) => type === 'Failed' && status === 'True',
  );
  return failed && (failed.message ?? failed.reason ?? 'the Job failed');
}
