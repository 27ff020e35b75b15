import type { NicResult } from '../../api/job.ts';
import type { Reason } from '../../api/reasons.ts';
import type { Verdict } from '../runner.ts';

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
