import * as z from 'zod';
import {
  adoptionProtocol,
  type Fence,
  type JobResult,
  jobResult,
  type NicReason,
  type NicResult,
  type Protocol,
  protocolOf,
  protocols,
  type RequestInterface,
} from '../../api/job.ts';
import { jsonIn } from '../../api/json.ts';
import type { Job, Pod } from '../../kube/core-resources.ts';
import { containerName, taskOfJob } from './job.ts';
import type { Failure, Phase, Run, RunOutcome } from './runner.ts';

/**
 * Returns a run for a Job and its Pods; undefined for foreign Jobs. Only the newest Pod counts: the Job controller
 * replaced older Pods.
 */
export function runOf(job: Job, pods: readonly Pod[]): Run | undefined {
  const task = taskOfJob(job);
  if (!task) return undefined;
  const pod = newest(pods);
  const jobEnd = jobEndOf(job);
  const { name, creationTimestamp: createdAt } = job.metadata;
  const run = { ...task, name, ...(createdAt ? { createdAt } : {}) };
  if (pod ? hasEnded(pod) : jobEnd) {
    const verdict = verdictOf(task, { job, pod, jobEnd });
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

/** A kubelet reports container statuses immediately, before it resolves mounts. */
function awaitedBy(pod: Pod | undefined): NonNullable<Run['awaits']> {
  if (!pod) return 'pod';
  return pod.status?.containerStatuses?.length ? 'container' : 'kubelet';
}

function phaseOf({ metadata, spec }: Job, pod: Pod | undefined): Exclude<Phase, 'ended'> {
  if (metadata.deletionTimestamp) return 'ending';
  if (spec?.suspend) return 'prepared';
  return pod && agentState(pod).kind === 'running' ? 'running' : 'pending';
}

/** A Job past its deadline has condition FailureTarget while its Pod terminates: on an unreachable node, forever. */
function overdueOf(job: Job): Failure {
  const message = `the Job has ended, but its Pod is still on the node: check whether the node is up${suspension(job)}`;
  return { reason: 'DeadlineExceeded', message };
}

/**
 * The controller resumes its Job once, before a Pod exists. A later suspension comes from another client, such as a
 * queue.
 */
function suspension(job: Job): string {
  return holds(job, 'Suspended') ? '; another client has suspended the Job' : '';
}

/** True if the agent's container terminated, or if the kubelet rejected or evicted the Pod. */
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

/** Final condition set by the Job controller. */
interface JobEnd {
  /** `DeadlineExceeded`, `BackoffLimitExceeded` …; empty for a completed Job. */
  readonly reason: string;
}

/** Returns the Job's final condition; undefined while the Job is active. */
export function jobEndOf(job: Job): JobEnd | undefined {
  const end = holds(job, 'Complete') ?? holds(job, 'Failed');
  return end && { reason: end.type === 'Failed' ? (end.reason ?? '') : '' };
}

/**
 * True if the Job is failing and waits for its Pods to terminate; since Kubernetes 1.31 `Failed` is set only
 * afterwards.
 */
export function isFailing(job: Job): boolean {
  return holds(job, 'FailureTarget') !== undefined;
}

function holds({ status }: Job, wanted: string) {
  return status?.conditions?.find(({ type, status: is }) => type === wanted && is === 'True');
}

type Statuses = NonNullable<NonNullable<Pod['status']>['containerStatuses']>;
type Terminated = NonNullable<NonNullable<Statuses[number]['state']>['terminated']>;

/** State of the agent's container as the kubelet reports it. */
type AgentState =
  | { readonly kind: 'waiting'; readonly reason: string; readonly message: string }
  | { readonly kind: 'running' }
  | { readonly kind: 'terminated'; readonly terminated: Terminated };

/** Returns the state of the agent's container; `waiting` with an empty reason before the kubelet's first report. */
function agentState({ status }: Pod): AgentState {
  const container = status?.containerStatuses?.find(({ name }) => name === containerName);
  const state = container?.state ?? {};
  if (state.terminated) return { kind: 'terminated', terminated: state.terminated };
  if (state.running) return { kind: 'running' };
  const { reason = '', message = '' } = state.waiting ?? {};
  return { kind: 'waiting', reason, message };
}

/** Returns the container's termination state; undefined before termination. */
export function terminatedOf(pod: Pod): Terminated | undefined {
  const agent = agentState(pod);
  return agent.kind === 'terminated' ? agent.terminated : undefined;
}

/** Kubelet reasons for a failed image pull. */
const pullReasons: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);

/** Kubelet reasons for a container that cannot be created, for example because a host directory is missing. */
const createReasons: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

/** Returns why a pending Pod's agent cannot start; undefined if the Pod is progressing normally. */
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

/** Kubernetes state of a finished run. */
interface JobState {
  readonly job: Job;
  readonly pod: Pod | undefined;
  readonly jobEnd: JobEnd | undefined;
}

/**
 * Returns the outcome of a finished run: the agent's result if it matches the run, otherwise a failure reason. A
 * missing result is never success.
 */
function verdictOf(run: RunId, state: JobState): RunOutcome {
  const terminated = state.pod && terminatedOf(state.pod);
  const parsed = terminated?.message ? read(run, terminated.message) : undefined;
  if (parsed?.kind === 'result') return parsed;
  const failure = failureWithoutResult(state, terminated);
  if (failure) return { kind: 'failure', ...failure };
  return parsed ?? resultLost(missingResultText(state, terminated));
}

function read(run: RunId, message: string): RunOutcome {
  // An agent result is JSON; a container runtime's message is not, and truncated JSON is unusable.
  const value = jsonIn(message);
  const version = anyProtocol.safeParse(value).data?.protocol;
  if (version !== undefined && !protocols.some((known) => known === version)) {
    const text = `the agent reported protocol ${JSON.stringify(version)}, this controller supports ${protocols.join(', ')}`;
    return { kind: 'failure', reason: 'ProtocolMismatch', message: text };
  }
  const { data: result } = jobResult.safeParse(value);
  if (!result) return resultLost('the termination message of the Pod is not an agent result');
  const { uid, generation, attempt } = result;
  if (uid !== run.uid || generation !== run.generation || attempt !== run.attempt) {
    return resultLost(
      `the result belongs to generation ${generation}, attempt ${attempt} of object ${uid}`,
    );
  }
  // The agent refuses a request before any change, hence no NIC results.
  return result.outcome === 'refused' ? refusalIn(result) : { kind: 'result', result };
}

function refusalIn({ refusal, fence }: JobResult): RunOutcome {
  const reason = refusal?.reason ?? 'InvalidRequest';
  const message = refusal?.message ?? 'the agent refused the request';
  const observed = reason === 'StaleRequest' && fence ? { fence } : {};
  return { kind: 'failure', reason, message, ...observed };
}

/**
 * Adds a failed NIC for each requested NIC missing in the result. An agent that omits a NIC, or reports only its
 * removal, has not configured the NIC, even if the overall outcome is ok.
 */
export function withMissingNics(run: Run, requested: readonly RequestInterface[]): Run {
  if (run.ended?.verdict.kind !== 'result') return run;
  const { result } = run.ended.verdict;
  const missing = requested.filter(
    ({ mac }) =>
      !result.nics.some((nic) => nic.mac.toLowerCase() === mac && nic.state !== 'Removed'),
  );
  if (missing.length === 0) return run;
  const nics = [...result.nics, ...missing.map((nic) => missingNic(nic, result.protocol))];
  const verdict = { kind: 'result', result: { ...result, nics } } as const;
  return { ...run, ended: { verdict } };
}

const foundReasons: ReadonlySet<string> = new Set<NicReason>([
  'NICInUse',
  'LeasedByHost',
  'PrimaryNIC',
]);

/** True if the agent refused the NIC for existing configuration; an adoption may succeed. */
export function isFoundReason(reason: string): boolean {
  return foundReasons.has(reason);
}

/** Names the agent's age for NICs refused by an agent without adoption. */
export function withAgentAge(run: Run, consent: 'Adopt' | undefined): Run {
  if (run.ended?.verdict.kind !== 'result' || consent === undefined) return run;
  const { result } = run.ended.verdict;
  if (result.protocol >= adoptionProtocol) return run;
  const nics = result.nics.map((nic): NicResult => {
    if (nic.state !== 'Failed' || !isFoundReason(nic.reason)) return nic;
    const message = `adoption needs protocol ${adoptionProtocol}, the agent supports ${result.protocol}: ${nic.message}`;
    return { ...nic, reason: 'AgentTooOld', message };
  });
  return { ...run, ended: { verdict: { kind: 'result', result: { ...result, nics } } } };
}

function missingNic(nic: RequestInterface, spoken: Protocol): NicResult {
  const { index, mac } = nic;
  const missing = { index, mac, name: '', state: 'Failed' } as const;
  const needed = protocolOf(nic);
  if (needed > spoken) {
    const message = `IPv6 and routing ${nic.routing} need protocol ${needed}, the agent supports ${spoken}: the NIC is unchanged`;
    return { ...missing, reason: 'AgentTooOld', message };
  }
  return {
    ...missing,
    reason: 'ApplyFailed',
    message: 'the agent reported no result for this NIC',
  };
}

/** Returns the Kubernetes reason for a missing result, if known. */
function failureWithoutResult(state: JobState, terminated?: Terminated): Failure | undefined {
  return killed(terminated) ?? refusedByKubelet(state.pod, terminated) ?? late(state);
}

function killed(terminated: Terminated | undefined): Failure | undefined {
  if (terminated?.reason !== 'OOMKilled') return undefined;
  return { reason: 'OutOfMemory', message: 'the agent was killed for exceeding its memory limit' };
}

/**
 * Returns a failure if the kubelet evicted the Pod, or rejected it before start: OutOfcpu, OutOfmemory, OutOfpods,
 * UnexpectedAdmissionError …
 */
function refusedByKubelet(pod: Pod | undefined, terminated?: Terminated): Failure | undefined {
  const { phase, reason = '', message = 'no message' } = pod?.status ?? {};
  if (reason === 'Evicted') return { reason: 'Evicted', message };
  if (terminated || phase !== 'Failed' || reason === '' || reason === deadline) return undefined;
  return { reason: 'Unschedulable', message: `${reason}: ${message}` };
}

/**
 * Returns a failure past the Job deadline. The Job controller deletes the Pod; older Job controllers first set the
 * Pod's reason.
 */
function late({ job, pod, jobEnd }: JobState): Failure | undefined {
  if (jobEnd?.reason !== deadline && pod?.status?.reason !== deadline) return undefined;
  const seconds = job.spec?.activeDeadlineSeconds;
  return { reason: deadline, message: `the Job did not end within ${seconds} s` };
}

const deadline = 'DeadlineExceeded';

function missingResultText({ job, pod }: JobState, terminated?: Terminated): string {
  return `${lastState(pod, terminated)}${suspension(job)}`;
}

function lastState(pod: Pod | undefined, terminated?: Terminated): string {
  if (!pod) return 'the Pod of the Job no longer exists';
  if (!terminated) return 'the agent container never started';
  return `the agent ended with exit code ${terminated.exitCode} and no result`;
}

function resultLost(message: string) {
  return { kind: 'failure', reason: 'ResultLost', message } as const;
}

/** True if the NIC failed, or waits for a link. A NIC adopted at the next boot waits for no run. */
export function isNicFailing(nic: NicResult): boolean {
  return isOpen(nic) && nic.reason !== 'AdoptedAtBoot';
}

/** True if the NIC needs another run. */
export function isOpen({ state }: NicResult): boolean {
  return state === 'Pending' || state === 'Failed';
}
