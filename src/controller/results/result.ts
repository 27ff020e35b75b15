import * as z from 'zod';
import {
  type Fence,
  type JobResult,
  jobResult,
  type NicResult,
  protocols,
  type RequestInterface,
} from '../../api/job.ts';
import type { Job, Pod } from '../../kube/core-resources.ts';
import type { Failure, Run, Verdict } from '../runner.ts';
import { type Terminated, terminatedOf } from './agent-state.ts';
import type { JobEnd } from './job-end.ts';

type RunId = Fence & { readonly attempt: number };

const anyProtocol = z.looseObject({ protocol: z.unknown() });

/** What Kubernetes shows of a run that has ended. */
export interface JobState {
  readonly job: Job;
  readonly pod: Pod | undefined;
  readonly jobEnd: JobEnd | undefined;
}

/**
 * What a run that has ended came to. The agent's own words count when they are about this very run; otherwise the reason
 * why there are none. Silence is never success.
 */
export function verdictOf(run: RunId, state: JobState): Verdict {
  const terminated = state.pod && terminatedOf(state.pod);
  const said = terminated?.message ? read(run, terminated.message) : undefined;
  if (said?.kind === 'result') return said;
  const failure = unheard(state, terminated);
  if (failure) return { kind: 'failure', ...failure };
  return said ?? resultLost(silence(state.pod, terminated));
}

function read(run: RunId, message: string): Verdict {
  const value = json(message);
  const version = anyProtocol.safeParse(value).data?.protocol;
  if (version !== undefined && !protocols.some((known) => known === version)) {
    const text = `the agent answers in protocol ${JSON.stringify(version)}, this controller speaks ${protocols.join(' and ')}`;
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

function refusalIn({ refusal, fence }: JobResult): Verdict {
  const reason = refusal?.reason ?? 'InvalidRequest';
  const message = refusal?.message ?? 'the agent refused the request';
  const seen = reason === 'StaleRequest' && fence ? { fence } : {};
  return { kind: 'failure', reason, message, ...seen };
}

/**
 * The run with a failed NIC for each that was asked for and that its result leaves out: an agent that says nothing of a NIC
 * has not configured it, whatever it says of the whole.
 */
export function withSilentNics(run: Run, asked: readonly RequestInterface[]): Run {
  if (run.ended?.verdict.kind !== 'result') return run;
  const { result } = run.ended.verdict;
  const silent = asked.filter(
    ({ mac }) => !result.nics.some((nic) => nic.mac.toLowerCase() === mac),
  );
  if (silent.length === 0) return run;
  const nics = [...result.nics, ...silent.map(silentNic)];
  const verdict = { kind: 'result', result: { ...result, nics } } as const;
  return { ...run, ended: { verdict } };
}

function silentNic({ index, mac }: RequestInterface): NicResult {
  const message = 'the agent says nothing of this NIC';
  return { index, mac, name: '', state: 'Failed', reason: 'ApplyFailed', message };
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The agent's first word on anything is JSON; a runtime's own message is not, and a cut one is worth nothing.
    return undefined;
  }
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

function silence(pod: Pod | undefined, terminated?: Terminated): string {
  if (!pod) return 'the Pod is gone';
  if (!terminated) return 'the container never ran';
  return `the agent ended with exit code ${terminated.exitCode} and said nothing`;
}

function resultLost(message: string) {
  return { kind: 'failure', reason: 'ResultLost', message } as const;
}
