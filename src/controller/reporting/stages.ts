import type { NicReason, NicResult } from '../../api/job.ts';
import { isOpen } from '../results/outcome.ts';
import type { Judgement } from './ready.ts';
import type { Situation } from './situation.ts';

/** How far a NIC has come: the kernel has it, it was read back, its files are there for the next boot. */
const stages = ['Applied', 'Verified', 'Persistent'] as const;

/** The stage at which a NIC with this reason stopped; any other reason stops at the first one. */
const stoppedAt: Partial<Record<NicReason, (typeof stages)[number]>> = {
  VerifyFailed: 'Verified',
  PersistFailed: 'Persistent',
};

/** Conditions Applied, Verified and Persistent; what comes after a stage that failed has failed too. */
export function stagesIn(situation: Situation, ready: Judgement) {
  return stages.map((type, position) => ({ type, ...stageAt(position, situation, ready) }));
}

function stageAt(position: number, situation: Situation, ready: Judgement): Judgement {
  const verdict = situation.kind === 'ended' ? situation.verdict : undefined;
  if (verdict?.kind !== 'result') return { ...ready, status: 'Unknown' };
  const { nics } = verdict.result;
  const failed = nics.filter((nic) => isOpen(nic) && stageOf(nic) <= position);
  if (failed.length === 0) {
    const message = `${nics.length} interfaces`;
    return { status: 'True', reason: 'JobSucceeded', message };
  }
  const reason = failed.length < nics.length ? 'JobFailedPartial' : 'JobFailed';
  const names = failed.map((nic) => `multinic${nic.index} ${nic.reason}`);
  return { status: 'False', reason, message: names.join(', ') };
}

function stageOf({ reason }: NicResult): number {
  return stages.indexOf(stoppedAt[reason] ?? 'Applied');
}
