import { type Cluster, timestamp } from '../cluster.ts';
import { at } from '../objects/json.ts';
import {
  type Condition,
  conditionOf,
  type JobSpec,
  type JobStatus,
  withCondition,
} from './job-status.ts';

const failures = {
  DeadlineExceeded: 'Job was active longer than specified deadline',
  BackoffLimitExceeded: 'Job has reached the specified backoff limit',
} as const;

export type Failure = keyof typeof failures;

/** Sets or clears the start time as the Job is resumed or suspended. */
export function withStart(cluster: Cluster, spec: JobSpec, status: JobStatus): JobStatus {
  const now = timestamp(cluster);
  if (spec.suspend) {
    const suspended = { type: 'Suspended', status: 'True', reason: 'JobSuspended' } as const;
    const condition: Condition = { ...suspended, message: 'Job suspended' };
    const conditions = withCondition(status.conditions, condition, now);
    return { ...status, startTime: undefined, conditions };
  }
  const resumed = { type: 'Suspended', status: 'False', reason: 'JobResumed' } as const;
  const conditions = conditionOf(status, 'Suspended')
    ? withCondition(status.conditions, { ...resumed, message: 'Job resumed' }, now)
    : status.conditions;
  return { ...status, startTime: status.startTime ?? now, conditions };
}

/** Why the Job is to fail, if it is; once decided it stays. */
export function failureOf(cluster: Cluster, spec: JobSpec, status: JobStatus): Failure | undefined {
  const decided = conditionOf(status, 'FailureTarget');
  if (decided) return at(decided, 'reason') as Failure;
  if (status.failed > spec.backoffLimit) return 'BackoffLimitExceeded';
  return deadlineMs(cluster, spec, status) === 0 ? 'DeadlineExceeded' : undefined;
}

/** Milliseconds until the Job's time is over, 0 when it is; undefined without a deadline. */
export function deadlineMs(cluster: Cluster, spec: JobSpec, status: JobStatus): number | undefined {
  if (spec.activeDeadlineSeconds === undefined || !status.startTime) return undefined;
  const end = Date.parse(status.startTime) + spec.activeDeadlineSeconds * 1000;
  return Math.max(0, end - cluster.clock.now().getTime());
}

/** How the Job ends: first the decision, then, with no Pod left running, the end itself. */
export function endConditions(
  failure: Failure | undefined,
  done: boolean,
  allStopped: boolean,
): readonly Condition[] {
  if (failure) {
    const message = failures[failure];
    const target = isTrue('FailureTarget', failure, message);
    return allStopped ? [target, isTrue('Failed', failure, message)] : [target];
  }
  if (!done) return [];
  const message = 'Reached expected number of succeeded pods';
  const met = isTrue('SuccessCriteriaMet', 'CompletionsReached', message);
  return allStopped ? [met, isTrue('Complete', 'CompletionsReached', message)] : [met];
}

function isTrue(type: Condition['type'], reason: string, message: string): Condition {
  return { type, status: 'True', reason, message };
}
