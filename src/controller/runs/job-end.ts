import type { Job } from '../../kube/core-resources.ts';

/** The Job controller's last word on a Job. */
export interface JobEnd {
  readonly at: Date;
  /** `DeadlineExceeded`, `BackoffLimitExceeded` …; empty for a Job that completed. */
  readonly reason: string;
}

/** How and when the Job ended; undefined while it has not. */
export function jobEndOf({ metadata, status }: Job): JobEnd | undefined {
  const end = status?.conditions?.find(
    ({ type, status: holds }) => holds === 'True' && (type === 'Complete' || type === 'Failed'),
  );
  if (!end) return undefined;
  const at = timeOf(end.lastTransitionTime) ?? timeOf(metadata.creationTimestamp) ?? new Date(0);
  return { at, reason: end.type === 'Failed' ? (end.reason ?? '') : '' };
}

/** A time of the API as a date; undefined when there is none. */
export function timeOf(text: string | undefined): Date | undefined {
  const date = new Date(text ?? '');
  return Number.isNaN(date.getTime()) ? undefined : date;
}
