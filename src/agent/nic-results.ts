import type { NicResult } from '../api/job.ts';
import type { Refusal } from './planning/refuse.ts';
import type { RefusedNic, Target, Unit } from './planning/unit.ts';

/** What is told of a unit: it was done, or why it was not. */
export function unitResult({ action, target, before, after }: Unit, failure?: Refusal): NicResult {
  if (failure) return failedResult(target, before.link?.name ?? '', failure);
  const done = action === 'apply' ? 'Configured' : 'Removed';
  return { ...target, name: after.link?.name ?? '', state: done, reason: done, message: '' };
}

/** What is told of a NIC that was not touched. */
export function refusedResult({ target, name, refusal }: RefusedNic): NicResult {
  return failedResult(target, name, refusal);
}

function failedResult(target: Target, name: string, { reason, message }: Refusal): NicResult {
  const state = reason === 'WaitingForNIC' ? 'Pending' : 'Failed';
  return { ...target, name, state, reason, message };
}
