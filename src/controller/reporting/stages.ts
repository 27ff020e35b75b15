import { interfaceName } from '../../api/names.ts';
import { isOpen } from '../results/outcome.ts';
import type { Judgement } from './ready.ts';
import type { Situation } from './situation.ts';

/** How far a NIC has come: the kernel has it, it was read back, its files are there for the next boot. */
const stages = ['Applied', 'Verified', 'Persistent'] as const;

/**
 * Conditions Applied, Verified and Persistent. The agent undoes a NIC that fails at any stage, so such a one has come to
 * none; its reason names the stage that it failed at.
 */
export function stagesIn(situation: Situation, ready: Judgement) {
  const judgement = stageIn(situation, ready);
  return stages.map((type) => ({ type, ...judgement }));
}

function stageIn(situation: Situation, ready: Judgement): Judgement {
  const verdict = situation.kind === 'ended' ? situation.verdict : undefined;
  if (verdict?.kind !== 'result') return { ...ready, status: 'Unknown' };
  const { nics } = verdict.result;
  const there = nics.filter(({ state }) => state === 'Configured').length;
  const failed = nics.filter(isOpen);
  if (failed.length === 0) {
    return { status: 'True', reason: 'JobSucceeded', message: `${there} interfaces` };
  }
  const names = failed.map(({ index, reason }) => `${interfaceName(index)} ${reason}`);
  const message = `${there} of ${there + failed.length} interfaces; ${names.join(', ')}`;
  return { status: 'False', reason: there > 0 ? 'JobFailedPartial' : 'JobFailed', message };
}
