import * as z from 'zod';
import type { Job, Pod } from '../../kube/core-resources.ts';
import type { Observed } from '../stage.ts';
import { backupApp, jobNameLabels, workContainer } from './names.ts';

const written = z.object({
  file: z.string(),
  bytes: z.int(),
  at: z.iso.datetime(),
  verified: z.boolean(),
  rows: z.int(),
});

/** Line written by the script on success. */
export type Written = z.infer<typeof written>;

/** Result of one Pod running the backup script. */
export interface RunResult {
  readonly job: string;
  /** RFC 3339. */
  readonly endedAt: string;
  /** Undefined: the run failed. */
  readonly written?: Written;
  /** Failure reason. */
  readonly reason: string;
}

/** Returns finished runs, newest first. */
export function runResults({ pods, namespace }: Observed): readonly RunResult[] {
  return pods
    .filter(({ metadata }) => metadata.namespace === namespace)
    .filter(({ metadata }) => metadata.labels?.['app'] === backupApp)
    .flatMap((pod) => resultOf(pod) ?? [])
    .toSorted((a, b) => Date.parse(b.endedAt) - Date.parse(a.endedAt));
}

function resultOf(pod: Pod): RunResult | undefined {
  const { status } = pod;
  const container = status?.containerStatuses?.find(({ name }) => name === workContainer);
  const ended = container?.state?.terminated;
  if (ended) return resultOfContainer(pod, ended);
  // For example an evicted Pod, whose container never ran.
  if (status?.phase !== 'Failed') return undefined;
  const reason = status.message ?? status.reason ?? 'the Pod failed';
  return { job: jobOf(pod), endedAt: createdAt(pod), reason };
}

type Terminated = NonNullable<
  NonNullable<
    NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]['state']
  >['terminated']
>;

function resultOfContainer(pod: Pod, { message, exitCode, finishedAt }: Terminated): RunResult {
  const text = message?.trim() ?? '';
  const result = exitCode === 0 ? writtenIn(text) : undefined;
  const reason = text || `the container exited with status ${exitCode}`;
  const endedAt = finishedAt ?? createdAt(pod);
  return { job: jobOf(pod), endedAt, reason, ...(result ? { written: result } : {}) };
}

function jobOf({ metadata }: Pod): string {
  return jobNameLabels.map((label) => metadata.labels?.[label]).find(Boolean) ?? '';
}

function createdAt({ metadata }: Pod): string {
  return metadata.creationTimestamp ?? new Date(0).toISOString();
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
