import { at, defined, isList, isObject, type Json, type JsonObject } from '../objects/json.ts';
import type { KubeObject } from '../objects/object.ts';

/** The numbers that a Job's spec asks for. */
export interface JobSpec {
  readonly parallelism: number;
  readonly completions: number;
  readonly backoffLimit: number;
  readonly activeDeadlineSeconds: number | undefined;
  readonly ttlSecondsAfterFinished: number | undefined;
  readonly suspend: boolean;
}

export function specOf(job: KubeObject): JobSpec {
  const number = (key: string): number | undefined => {
    const value = at(job, 'spec', key);
    return typeof value === 'number' ? value : undefined;
  };
  return {
    parallelism: number('parallelism') ?? 1,
    completions: number('completions') ?? 1,
    backoffLimit: number('backoffLimit') ?? 6,
    activeDeadlineSeconds: number('activeDeadlineSeconds'),
    ttlSecondsAfterFinished: number('ttlSecondsAfterFinished'),
    suspend: at(job, 'spec', 'suspend') === true,
  };
}

export interface Condition {
  readonly type: 'Complete' | 'Failed' | 'FailureTarget' | 'SuccessCriteriaMet' | 'Suspended';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** What a Job is about to publish. */
export interface JobStatus {
  readonly active: number;
  readonly ready: number;
  readonly terminating: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly startTime: string | undefined;
  readonly conditions: readonly Json[];
}

/** The status that is stored now; counters that are not there are 0. */
export function statusOf(job: KubeObject): JobStatus {
  const status = isObject(job['status']) ? job['status'] : {};
  const number = (key: string): number => Number(status[key] ?? 0);
  return {
    active: number('active'),
    ready: number('ready'),
    terminating: number('terminating'),
    succeeded: number('succeeded'),
    failed: number('failed'),
    startTime: typeof status['startTime'] === 'string' ? status['startTime'] : undefined,
    conditions: isList(status['conditions']) ? status['conditions'] : [],
  };
}

/** The condition's entry if it is True. */
export function conditionOf(status: JobStatus, type: Condition['type']): Json | undefined {
  return status.conditions.find((one) => at(one, 'type') === type && at(one, 'status') === 'True');
}

/** The conditions with one more, or another state of it; the transition time moves only with the state. */
export function withCondition(
  conditions: readonly Json[],
  { type, status, reason, message }: Condition,
  now: string,
): readonly Json[] {
  const before = conditions.find((one) => at(one, 'type') === type);
  if (at(before, 'status') === status) return conditions;
  const times = { lastProbeTime: now, lastTransitionTime: now };
  const others = conditions.filter((one) => one !== before);
  return [...others, { type, status, ...times, reason, message }];
}

/** The status as JSON: zero counters are left out, except those that are pointers in the Go type. */
export function statusJson(status: JobStatus): JsonObject {
  const complete = conditionOf(status, 'Complete');
  return defined({
    conditions: status.conditions.length > 0 ? status.conditions : undefined,
    startTime: status.startTime,
    completionTime: complete && at(complete, 'lastTransitionTime'),
    active: status.active || undefined,
    succeeded: status.succeeded || undefined,
    failed: status.failed || undefined,
    terminating: status.terminating,
    ready: status.ready,
    uncountedTerminatedPods: {},
  });
}
