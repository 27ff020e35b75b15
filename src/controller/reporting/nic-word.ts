import { type NicResult, nicReason } from '../../api/job.ts';
import type { InterfaceStatus } from '../../api/multinicnodeconfig.ts';
import type { Reason } from '../../api/reasons.ts';
import type { Failure, Verdict } from '../runner.ts';
import type { Situation } from './situation.ts';

/** What the status says of one NIC. */
export interface NicWord {
  readonly status: 'Pending' | 'InProgress' | 'Configured' | 'Failed';
  readonly reason: Reason;
  readonly message: string;
}

/** Failures that certainly changed nothing on the node. */
const harmless: ReadonlySet<Reason> = new Set([
  'ImagePullFailed',
  'Unschedulable',
  'NotStarted',
  'WrongMachine',
  'AlreadyRunning',
  'StaleRequest',
  'UnknownState',
  'InvalidRequest',
]);

/** The agent's own word. */
export function agentWord({ state, reason, message }: NicResult): NicWord {
  const status = state === 'Configured' || state === 'Pending' ? state : 'Failed';
  return { status, reason, message };
}

/**
 * The word on a NIC that no agent has just spoken about: its last word, given as `earlier` when that was about the same
 * wish, holds until a run has ended that may have changed something.
 */
export function wordWithout(situation: Situation, before: InterfaceStatus | undefined): NicWord {
  const earlier = earlierWord(before);
  if (situation.kind !== 'ended') return earlier ?? firstWord(situation);
  const { reason, message } = failureOf(situation.verdict);
  return (harmless.has(reason) ? earlier : undefined) ?? { status: 'Failed', reason, message };
}

function firstWord(situation: Exclude<Situation, { kind: 'ended' }>): NicWord {
  switch (situation.kind) {
    case 'refused':
    case 'waiting':
      return { status: 'Pending', reason: situation.reason, message: situation.message };
    case 'working':
    case 'recorded':
      return { status: 'InProgress', reason: 'SpecChanged', message: 'the agent is at work' };
    default:
      return situation satisfies never;
  }
}

/** What an agent said earlier, as far as the status still shows it. */
function earlierWord(before: InterfaceStatus | undefined): NicWord | undefined {
  const reason = nicReason.safeParse(before?.reason).data;
  const { status, message = '' } = before ?? {};
  if (!reason || reason === 'InvalidEntry') return undefined;
  if (status !== 'Configured' && status !== 'Pending' && status !== 'Failed') return undefined;
  return { status, reason, message };
}

/** Why the run that ended says nothing of a NIC. */
function failureOf(verdict: Verdict): Failure {
  if (verdict.kind === 'failure') return verdict;
  return { reason: 'JobFailed', message: 'the agent says nothing of this NIC' };
}
