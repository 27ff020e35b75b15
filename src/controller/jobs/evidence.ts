import * as z from 'zod';
import {
  type Fence,
  type JobResult,
  jobResult,
  type NicResult,
  type Protocol,
  protocolOf,
  protocols,
  type RequestInterface,
} from '../../api/job.ts';
import type { Job, Pod } from '../../kube/core-resources.ts';
import { containerName, jsonIn, taskOfJob } from './job.ts';
import type { Failure, Phase, Run, RunOutcome } from './runner.ts';

/**
 * Reads a Job and its Pods as a run; undefined for a Job that is not ours. Only the newest Pod counts: an older one was
 * replaced by the Job controller.
 */
export function runOf(job: Job, pods: readonly Pod[]): Run | undefined {
  const order = taskOfJob(job);
  if (!order) return undefined;
  const pod = newest(pods);
  const jobEnd = jobEndOf(job);
  const { name, creationTimestamp: createdAt } = job.metadata;
  const run = { ...order, name, ...(createdAt ? { createdAt } : {}) };
  if (pod ? hasEnded(pod) : jobEnd) {
    const verdict = verdictOf(order, { job, pod, jobEnd });
    return { ...run, phase: 'ended', trouble: undefined, ended: { verdict } };
  }
  if (jobEnd || isFailing(job)) {
    return { ...run, phase: 'ending', trouble: overdueOf(job), ended: undefined };
  }
  const phase = phaseOf(job, pod);
  if (phase !== 'pending') return { ...run, phase, trouble: undefined, ended: undefined };
  const trouble = pod && troubleOf(pod);
  return { ...run, phase, trouble, awaits: awaitedBy(pod), ended: undefined };
}

/** A kubelet says at once how its containers stand, before it looks for what they are to mount. */
function awaitedBy(pod: Pod | undefined): NonNullable<Run['awaits']> {
  if (!pod) return 'pod';
  return pod.status?.containerStatuses?.length ? 'container' : 'kubelet';
}

function phaseOf({ metadata, spec }: Job, pod: Pod | undefined): Exclude<Phase, 'ended'> {
  if (metadata.deletionTimestamp) return 'ending';
  if (spec?.suspend) return 'prepared';
  return pod && agentState(pod).kind === 'running' ? 'running' : 'pending';
}

/** A Job over its deadline is failing while its Pod still stops: for ever on a node that does not answer. */
function overdueOf(job: Job): Failure {
  const message = `the Job has ended, its Pod is still on the node: is the node up?${suspension(job)}`;
  return { reason: 'DeadlineExceeded', message };
}

/** The controller resumes its Job once, before there is a Pod: only another client, such as a queue, suspends it after that. */
function suspension(job: Job): string {
  return holds(job, 'Suspended') ? '; another client has suspended the Job' : '';
}

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

/** The Job controller's last word on a Job. */
interface JobEnd {
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

type Statuses = NonNullable<NonNullable<Pod['status']>['containerStatuses']>;
type Terminated = NonNullable<NonNullable<Statuses[number]['state']>['terminated']>;

/** What the kubelet says about the agent's container. */
type AgentState =
  | { readonly kind: 'waiting'; readonly reason: string; readonly message: string }
  | { readonly kind: 'running' }
  | { readonly kind: 'terminated'; readonly terminated: Terminated };

/** State of the agent's container; waiting without a reason while the kubelet has said nothing. */
function agentState({ status }: Pod): AgentState {
  const container = status?.containerStatuses?.find(({ name }) => name === containerName);
  const state = container?.state ?? {};
  if (state.terminated) return { kind: 'terminated', terminated: state.terminated };
  if (state.running) return { kind: 'running' };
  const { reason = '', message = '' } = state.waiting ?? {};
  return { kind: 'waiting', reason, message };
}

/** How the agent's container ended; undefined while it has not. */
export function terminatedOf(pod: Pod): Terminated | undefined {
  const agent = agentState(pod);
  return agent.kind === 'terminated' ? agent.terminated : undefined;
}

/** Words of the kubelet for an image that does not come. */
const pullReasons: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);

/** Words for a container that cannot be made, for example because a host folder is missing. */
const createReasons: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

/** Why a Pod whose agent has not begun does not begin; undefined while it is simply on its way. */
function troubleOf(pod: Pod): Failure | undefined {
  return containerTrouble(pod) ?? schedulingTrouble(pod);
}

function containerTrouble(pod: Pod): Failure | undefined {
  const agent = agentState(pod);
  if (agent.kind !== 'waiting') return undefined;
  const message = `${agent.reason}: ${agent.message || 'no message'}`;
  if (pullReasons.has(agent.reason)) return { reason: 'ImagePullFailed', message };
  return createReasons.has(agent.reason) ? { reason: 'JobFailed', message } : undefined;
}

function schedulingTrouble({ status }: Pod): Failure | undefined {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status !== 'False' || scheduled.reason !== 'Unschedulable') return undefined;
  return { reason: 'Unschedulable', message: scheduled.message ?? 'no message' };
}

type RunId = Fence & { readonly attempt: number };

const anyProtocol = z.looseObject({ protocol: z.unknown() });

/** What Kubernetes shows of a run that has ended. */
interface JobState {
  readonly job: Job;
  readonly pod: Pod | undefined;
  readonly jobEnd: JobEnd | undefined;
}

/**
 * What a run that has ended came to. The agent's own words count when they are about this very run; otherwise the reason
 * why there are none. Silence is never success.
 */
function verdictOf(run: RunId, state: JobState): RunOutcome {
  const terminated = state.pod && terminatedOf(state.pod);
  const said = terminated?.message ? read(run, terminated.message) : undefined;
  if (said?.kind === 'result') return said;
  const failure = unheard(state, terminated);
  if (failure) return { kind: 'failure', ...failure };
  return said ?? resultLost(silence(state, terminated));
}

function read(run: RunId, message: string): RunOutcome {
  // The agent's first word on anything is JSON; a runtime's own message is not, and a cut one is worth nothing.
  const value = jsonIn(message);
  const version = anyProtocol.safeParse(value).data?.protocol;
  if (version !== undefined && !protocols.some((known) => known === version)) {
    const text = `the agent answers in protocol ${JSON.stringify(version)}, this controller speaks ${protocols.join(', ')}`;
    return { kind: 'failure', reason: 'ProtocolMismatch', message: text };
  }
  const { data: result } = jobResult.safeParse(value);
  if (!result) return resultLost('the termination message is not a result');
  const { uid, generation, attempt } = result;
  if (uid !== run.uid || generation !== run.generation || attempt !== run.attempt) {
    return resultLost(`the result is about generation ${generation}, attempt ${attempt} of ${uid}`);
  }
  // A request that is refused is refused before anything is touched: there is nothing to report.
  return result.outcome === 'refused' ? refusalIn(result) : { kind: 'result', result };
}

function refusalIn({ refusal, fence }: JobResult): RunOutcome {
  const reason = refusal?.reason ?? 'InvalidRequest';
  const message = refusal?.message ?? 'the agent refused the request';
  const seen = reason === 'StaleRequest' && fence ? { fence } : {};
  return { kind: 'failure', reason, message, ...seen };
}

/**
 * The run with a failed NIC for each that was asked for and that its result leaves out: an agent that says nothing of a NIC,
 * or no more than that it is removed, has not configured it, whatever it says of the whole.
 */
export function withSilentNics(run: Run, asked: readonly RequestInterface[]): Run {
  if (run.ended?.verdict.kind !== 'result') return run;
  const { result } = run.ended.verdict;
  const silent = asked.filter(
    ({ mac }) =>
      !result.nics.some((nic) => nic.mac.toLowerCase() === mac && nic.state !== 'Removed'),
  );
  if (silent.length === 0) return run;
  const nics = [...result.nics, ...silent.map((nic) => silentNic(nic, result.protocol))];
  const verdict = { kind: 'result', result: { ...result, nics } } as const;
  return { ...run, ended: { verdict } };
}

function silentNic(nic: RequestInterface, spoken: Protocol): NicResult {
  const { index, mac } = nic;
  const silent = { index, mac, name: '', state: 'Failed' } as const;
  const needed = protocolOf(nic);
  if (needed > spoken) {
    const message = `IPv6 and routing ${nic.routing} need protocol ${needed}, the agent knows ${spoken}: the NIC stays as it is`;
    return { ...silent, reason: 'AgentTooOld', message };
  }
  return { ...silent, reason: 'ApplyFailed', message: 'the agent says nothing of this NIC' };
}

/** Why the agent could not speak, if Kubernetes knows. */
function unheard(state: JobState, terminated?: Terminated): Failure | undefined {
  return killed(terminated) ?? refusedByKubelet(state.pod, terminated) ?? late(state);
}

function killed(terminated: Terminated | undefined): Failure | undefined {
  if (terminated?.reason !== 'OOMKilled') return undefined;
  return { reason: 'OutOfMemory', message: 'the agent was killed for using too much memory' };
}

/** Evicted at any time, or refused before it ran: OutOfcpu, OutOfmemory, OutOfpods, UnexpectedAdmissionError … */
function refusedByKubelet(pod: Pod | undefined, terminated?: Terminated): Failure | undefined {
  const { phase, reason = '', message = 'no message' } = pod?.status ?? {};
  if (reason === 'Evicted') return { reason: 'Evicted', message };
  if (terminated || phase !== 'Failed' || reason === '' || reason === deadline) return undefined;
  return { reason: 'Unschedulable', message: `${reason}: ${message}` };
}

/** The Job controller deletes the Pod of a Job that is over its deadline; older ones mark it first. */
function late({ job, pod, jobEnd }: JobState): Failure | undefined {
  if (jobEnd?.reason !== deadline && pod?.status?.reason !== deadline) return undefined;
  const seconds = job.spec?.activeDeadlineSeconds;
  return { reason: deadline, message: `the Job did not end within ${seconds} s` };
}

const deadline = 'DeadlineExceeded';

function silence({ job, pod }: JobState, terminated?: Terminated): string {
  return `${lastSeen(pod, terminated)}${suspension(job)}`;
}

function lastSeen(pod: Pod | undefined, terminated?: Terminated): string {
  if (!pod) return 'the Pod is gone';
  if (!terminated) return 'the container never ran';
  return `the agent ended with exit code ${terminated.exitCode} and said nothing`;
}

function resultLost(message: string) {
  return { kind: 'failure', reason: 'ResultLost', message } as const;
}

/** Whether something is left to do for the NIC. */
export function isOpen({ state }: NicResult): boolean {
  return state === 'Pending' || state === 'Failed';
}
