import type { Job } from '../../kube/core-resources.ts';

/** The Job controller's last word on a Job. */
export interface JobEnd {
  /** `DeadlineExceeded`, `BackoffLimitExceeded` …; empty for a Job that completed. */
  readonly reason: string;
}

/** How the Job ended; undefined while it has not. */
export function jobEndOf(job: Job): JobEnd | undefined {
  const end = holds(job, 'Complete') ?? holds(job, 'Failed');
  return end && { reason: end.type === 'Failed' ? (end.reason ?? '') : '' };
}

/** The Job is to fail and waits for its Pods to stop: since Kubernetes 1.31 it is not `Failed` before. */
export function isFailing(job: Job): boolean {
  return holds(job, 'FailureTarget') !== undefined;
}

function holds({ status }: Job, wanted: string) {
  return status?.conditions?.find(({ type, status: is }) => type === wanted && is === 'True');
}
