import * as z from 'zod';
import type { JobResult, NicResult } from '../../api/job.ts';
import { isAdoption } from '../../api/shared-content.ts';
import { isNicFailing, isOpen } from './evidence.ts';
import { failedIn, isAfterChange, type NicHashes } from './failed-nics.ts';
import type { RunOutcome } from './runner.ts';

/** A changed setting in a record, with its rollout phase. */
export const settingRun = z.object({
  key: z.string(),
  value: z.string(),
  rollout: z.enum(['started', 'done', 'failed']),
  at: z.string(),
  failedBefore: z.boolean().optional(),
  macs: z.array(z.string()).optional(),
});

export type SettingRun = Readonly<z.infer<typeof settingRun>>;

/** Lower-case MAC addresses of a run. */
interface NewRun {
  readonly requested: ReadonlySet<string>;
  readonly kept: ReadonlySet<string>;
}

/**
 * Returns a setting in a later run; undefined: the setting no longer counts. A failure lasts while its NICs stay, and
 * an unknown result is replaced by that of a run with the NICs.
 */
export function settingAtStart(
  run: SettingRun,
  { requested, kept }: NewRun,
): SettingRun | undefined {
  const { rollout, macs = [] } = run;
  if (rollout === 'done') return run;
  const isStaying = macs.every((mac) => requested.has(mac) || kept.has(mac));
  const lasts = rollout === 'failed' ? isStaying : macs.some((mac) => requested.has(mac));
  return lasts ? run : undefined;
}

/** The record's NICs after a run. */
interface NicsAfter {
  /** Content hashes after the run. */
  readonly nics?: NicHashes | undefined;
  /** Lower-case MACs configured before the run. */
  readonly macs?: readonly string[] | undefined;
}

/** Returns a setting after a run. */
export function settingAtEnd(
  run: SettingRun,
  verdict: RunOutcome,
  after: NicsAfter,
): SettingRun | undefined {
  if (run.rollout === 'done') return run;
  if (verdict.kind === 'failure' || isHostFailure(verdict.result)) {
    return { ...run, rollout: 'failed' };
  }
  const { nics: results } = verdict.result;
  const failed = failedFor(run, results, after);
  // In an adoption only failed NICs count: NICs without a failure prove nothing against the consent.
  if (failed.length > 0) {
    return { ...run, rollout: 'failed', ...(isAdoption(run.key) ? { macs: failed } : {}) };
  }
  return isTested(run, results) ? doneRun(run) : untestedRun(run);
}

function isHostFailure({ nics, outcome }: JobResult): boolean {
  return outcome !== 'ok' && !nics.some(isOpen);
}

/** True if the run was for the setting's NICs. A node without NICs may have the consent to adoption, too. */
function isTested({ key, macs = [] }: SettingRun, results: readonly NicResult[]): boolean {
  return results.some((nic) => isAmong(macs, nic)) || (isAdoption(key) && macs.length === 0);
}

function doneRun({ key, value, at }: SettingRun): SettingRun {
  return { key, value, rollout: 'done', at };
}

/** A run without the setting's NICs ends no failure, and proves nothing. */
function untestedRun(run: SettingRun): SettingRun | undefined {
  return run.rollout === 'failed' ? run : undefined;
}

/** Returns the MACs that failed with the setting, in the run or before. */
function failedFor(
  { key, macs = [], rollout }: SettingRun,
  results: readonly NicResult[],
  { nics, macs: configured = [] }: NicsAfter,
): string[] {
  const failing = results.filter((nic) => isNicFailing(nic) && isAmong(macs, nic));
  if (!isAdoption(key)) {
    return [...failing.map(macIn), ...failedIn(nics).filter((mac) => macs.includes(mac))];
  }
  // A NIC refused for existing configuration is unchanged, unless the NIC was configured before.
  const harmed = failing.filter((nic) => isAfterChange(nic.reason) || isAmong(configured, nic));
  const tested = new Set(results.map(macIn));
  const before = rollout === 'failed' ? failedIn(nics) : [];
  const stillFailed = before.filter((mac) => macs.includes(mac) && !tested.has(mac));
  return [...harmed.map(macIn), ...stillFailed];
}

function isAmong(macs: readonly string[], nic: Pick<NicResult, 'mac'>): boolean {
  return macs.includes(macIn(nic));
}

function macIn({ mac }: Pick<NicResult, 'mac'>): string {
  return mac.toLowerCase();
}
