import type { ConditionUpdate } from '../../api/condition.ts';
import { counted } from '../../api/counted.ts';
import type { JobResult, NicResult } from '../../api/job.ts';
import { interfaceName } from '../../api/names.ts';
import type { Reason } from '../../api/reasons.ts';
import { isOpen } from '../jobs/evidence.ts';
import type { Entry } from '../jobs/request.ts';
import type { Run, RunOutcome } from '../jobs/runner.ts';
import type { RunPhase } from './run-phase.ts';

/** Reasons for waiting without a failure: NICs keep their configuration. */
const undecided: ReadonlySet<Reason> = new Set(['WaitingForTurn', 'RolloutWaiting', 'Paused']);

/** Status, reason and message of a condition; the reason is in the reasons table. */
export type Judgement = Omit<ConditionUpdate, 'type' | 'reason'> & { readonly reason: Reason };

/**
 * Returns condition Ready: True if everything requested is applied and verified. Of several reasons the first in
 * processing order counts. Refused entries come last, because they delay nothing else.
 */
export function readyIn(situation: RunPhase, entries: readonly Entry[]): Judgement {
  switch (situation.kind) {
    case 'refused':
      return no(situation.reason, situation.message);
    case 'waiting':
      return undecided.has(situation.reason)
        ? { status: 'Unknown', reason: situation.reason, message: situation.message }
        : no(situation.reason, situation.message);
    case 'working':
      return working(situation.run);
    case 'ended':
      return judged(situation.verdict, entries);
    case 'recorded':
      // Normally the status keeps its Ready condition; reached only if a user removed the condition.
      return { status: 'Unknown', reason: 'SpecChanged', message: 'the status was incomplete' };
    default:
      return situation satisfies never;
  }
}

function working({ trouble, node }: Run): Judgement {
  if (trouble) return no(trouble.reason, trouble.message);
  return {
    status: 'Unknown',
    reason: 'SpecChanged',
    message: `an agent is running on node ${node}`,
  };
}

function judged(verdict: RunOutcome, entries: readonly Entry[]): Judgement {
  if (verdict.kind === 'failure') return no(verdict.reason, verdict.message);
  return judgedNics(verdict.result, entries);
}

/** Returns Ready for these results; refused entries come last. */
export function judgedNics(
  { nics, outcome, warnings }: Pick<JobResult, 'nics' | 'outcome' | 'warnings'>,
  entries: readonly Entry[],
): Judgement {
  const [first] = nics.filter(isOpen);
  if (first) return no(first.reason, describe(nics, entries));
  const held = nics.filter(({ state }) => state === 'Held');
  if (held.length > 0) return no('RemovalHeld', nicTexts(held).join('; '));
  // A host-wide problem without a NIC is reported as a warning.
  if (outcome !== 'ok')
    return no('JobFailed', warnings.join('; ') || `the agent reported outcome "${outcome}"`);
  const [refused] = rejectionsOf(entries);
  if (refused !== undefined) return no('InvalidEntries', rejectionsOf(entries).join('; '));
  return { status: 'True', reason: 'AllInterfacesConfigured', message: success(entries, warnings) };
}

function no(reason: Reason, message: string): Judgement {
  return { status: 'False', reason, message };
}

function describe(nics: readonly NicResult[], entries: readonly Entry[]): string {
  const configured = nics.filter(({ state }) => state === 'Configured').length;
  const open = nicTexts(nics.filter(isOpen));
  return `${configured} of ${counted(entries.length, 'interface')} configured; ${open.join('; ')}`;
}

function nicTexts(nics: readonly NicResult[]): string[] {
  return nics.map(({ index, reason, message }) => `${interfaceName(index)} ${reason}: ${message}`);
}

function success(entries: readonly Entry[], warnings: readonly string[]): string {
  const words =
    entries.length === 0
      ? 'No interfaces: MultiNIC manages nothing on the node'
      : `${entries.length === 1 ? '' : 'All '}${counted(entries.length, 'interface')} configured successfully`;
  return warnings.length === 0 ? words : `${words}; warnings: ${warnings.join(', ')}`;
}

/** Returns one text per unusable entry. */
export function rejectionsOf(entries: readonly Entry[]): string[] {
  return entries.flatMap(({ rejection }) => rejection ?? []);
}

/** Returns Ready for NICs whose removal waits for consent. */
export function blockedReady(message: string): Judgement {
  return no('RemovalHeld', message);
}
