import * as z from 'zod';
import type { JobResult, NicResult } from '../../api/job.ts';
import { isOpen } from './evidence.ts';
import { failedIn, type NicHashes } from './failed-nics.ts';
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

/** Returns a setting after a run; `nics`: content hashes after the run. */
export function settingAtEnd(
  run: SettingRun,
  verdict: RunOutcome,
  nics: NicHashes | undefined,
): SettingRun | undefined {
  if (run.rollout === 'done') return run;
  if (verdict.kind === 'failure' || hasFailedFor(run, verdict.result, nics)) {
    return { ...run, rollout: 'failed' };
  }
  const { macs = [] } = run;
  const isTested = verdict.result.nics.some((nic) => isAmong(macs, nic));
  if (!isTested) return run.rollout === 'failed' ? run : undefined;
  const { key, value, at } = run;
  return { key, value, rollout: 'done', at };
}

function hasFailedFor(
  { macs = [] }: SettingRun,
  { nics: results, outcome }: Pick<JobResult, 'nics' | 'outcome'>,
  nics: NicHashes | undefined,
): boolean {
  const open = results.filter(isOpen);
  if (open.length === 0 && outcome !== 'ok') return true;
  if (open.some((nic) => isAmong(macs, nic))) return true;
  return failedIn(nics).some((mac) => macs.includes(mac));
}

function isAmong(macs: readonly string[], { mac }: Pick<NicResult, 'mac'>): boolean {
  return macs.includes(mac.toLowerCase());
}
