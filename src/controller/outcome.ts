import { findCondition } from '../api/condition.ts';
import type { NicResult } from '../api/job.ts';
import type { NodeConfigStatus } from '../api/multinicnodeconfig.ts';
import { type Reason, reasons } from '../api/reasons.ts';
import type { Verdict } from './runner.ts';

/** What a run came to, as far as it decides whether another one is needed. */
export interface Outcome {
  readonly done: boolean;
  /** Why it is not done: each reason sets a pace for the next attempt. */
  readonly reasons: readonly Reason[];
}

/** Whether the agent brought the node to what was asked for. */
export function outcomeOf(verdict: Verdict): Outcome {
  if (verdict.kind === 'failure') return { done: false, reasons: [verdict.reason] };
  const { outcome, nics } = verdict.result;
  const open = nics.filter(isOpen).map(({ reason }) => reason);
  if (open.length > 0) return { done: false, reasons: open };
  return outcome === 'ok' ? { done: true, reasons: [] } : { done: false, reasons: ['JobFailed'] };
}

/** Whether something is left to do for the NIC. */
export function isOpen({ state }: NicResult): boolean {
  return state === 'Pending' || state === 'Failed';
}

/**
 * What the status says about the runs of its generation: our own earlier reading of a result, kept where it outlives the
 * Job. Undefined when it says nothing final.
 */
export function recordedOutcome(status: NodeConfigStatus): Outcome | undefined {
  const ready = findCondition(status.conditions, 'Ready');
  if (!ready || ready.status === 'Unknown' || !status.lastProcessed) return undefined;
  const open = (status.interfaceStatuses ?? []).filter((nic) => nic.status !== 'Configured');
  const words = [
    ...(ready.status === 'True' ? [] : [ready.reason]),
    ...open.map((nic) => nic.reason),
  ];
  const given = words.flatMap((word) => asReason(word) ?? []);
  // The agent has nothing to do with entries that it was never given.
  const left = given.filter((reason) => reason !== 'InvalidEntry' && reason !== 'InvalidEntries');
  return { done: left.length === 0, reasons: left };
}

function asReason(word: string | undefined): Reason | undefined {
  return word !== undefined && word in reasons ? (word as Reason) : undefined;
}
