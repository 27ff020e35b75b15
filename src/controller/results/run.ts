import type { Job, Pod } from '../../kube/core-resources.ts';
import { orderOf } from '../run-labels.ts';
import type { Failure, Phase, Run } from '../runner.ts';
import { agentState, terminatedOf } from './agent-state.ts';
import { isFailing, jobEndOf } from './job-end.ts';
import { verdictOf } from './result.ts';
import { troubleOf } from './trouble.ts';

/**
 * Reads a Job and its Pods as a run; undefined for a Job that is not ours. Only the newest Pod counts: an older one was
 * replaced by the Job controller.
 */
export function runOf(job: Job, pods: readonly Pod[]): Run | undefined {
  const order = orderOf(job);
  if (!order) return undefined;
  const pod = newest(pods);
  const jobEnd = jobEndOf(job);
  const run = { ...order, name: job.metadata.name };
  if (pod ? hasEnded(pod) : jobEnd) {
    const verdict = verdictOf(order, { job, pod, jobEnd });
    return { ...run, phase: 'ended', trouble: undefined, ended: { verdict } };
  }
  if (jobEnd || isFailing(job)) {
    return { ...run, phase: 'ending', trouble: overdue, ended: undefined };
  }
  const phase = phaseOf(job, pod);
  const trouble = pod && phase === 'pending' ? troubleOf(pod) : undefined;
  return { ...run, phase, trouble, ended: undefined };
}

function phaseOf({ metadata, spec }: Job, pod: Pod | undefined): Exclude<Phase, 'ended'> {
  if (metadata.deletionTimestamp) return 'ending';
  if (spec?.suspend) return 'prepared';
  return pod && agentState(pod).kind === 'running' ? 'running' : 'pending';
}

/** A Job over its deadline is failing while its Pod still stops: for ever on a node that does not answer. */
const overdue: Failure = {
  reason: 'DeadlineExceeded',
  message: 'the Job has ended, its Pod is still on the node: is the node up?',
};

/** Whether the agent's container ended, or the kubelet refused or evicted the Pod before it ran. */
function hasEnded(pod: Pod): boolean {
  const { phase } = pod.status ?? {};
  return terminatedOf(pod) !== undefined || phase === 'Failed' || phase === 'Succeeded';
}

function newest(pods: readonly Pod[]): Pod | undefined {
  return pods.toSorted((a, b) => (ageKey(a) < ageKey(b) ? 1 : -1))[0];
}

function ageKey({ metadata }: Pod): string {
  return `${metadata.creationTimestamp}/${metadata.name}`;
}
