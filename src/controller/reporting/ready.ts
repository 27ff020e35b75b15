import type { ConditionUpdate } from '../../api/condition.ts';
import type { NicResult } from '../../api/job.ts';
import { interfaceName } from '../../api/names.ts';
import type { Reason } from '../../api/reasons.ts';
import type { Entry } from '../accept.ts';
import { isOpen } from '../results/outcome.ts';
import type { Run, Verdict } from '../runner.ts';
import type { Situation } from './situation.ts';

/** Status, reason and message of a condition; the reason is a word of the table. */
export type Judgement = Omit<ConditionUpdate, 'type' | 'reason'> & { readonly reason: Reason };

/**
 * Whether everything that was asked for is in force and verified. Of several reasons the first one counts, in the order
 * of the work: the entries that a person can mend come last, because they keep nothing else waiting.
 */
export function readyIn(situation: Situation, entries: readonly Entry[]): Judgement {
  switch (situation.kind) {
    case 'refused':
      return no(situation.reason, situation.message);
    case 'waiting':
      return situation.reason === 'WaitingForTurn'
        ? { status: 'Unknown', reason: situation.reason, message: situation.message }
        : no(situation.reason, situation.message);
    case 'working':
      return working(situation.run);
    case 'ended':
      return judged(situation.verdict, entries);
    case 'recorded':
      // Kept as it is written; this is for a status that somebody took apart.
      return { status: 'Unknown', reason: 'SpecChanged', message: 'the status was incomplete' };
    default:
      return situation satisfies never;
  }
}

function working({ trouble, node }: Run): Judgement {
  if (trouble) return no(trouble.reason, trouble.message);
  return { status: 'Unknown', reason: 'SpecChanged', message: `an agent works on node ${node}` };
}

function judged(verdict: Verdict, entries: readonly Entry[]): Judgement {
  if (verdict.kind === 'failure') return no(verdict.reason, verdict.message);
  const { nics, outcome, warnings } = verdict.result;
  const [first] = nics.filter(isOpen);
  if (first) return no(first.reason, describe(nics, entries));
  // What is wrong with the whole host and no NIC in particular comes as a warning.
  if (outcome !== 'ok') return no('JobFailed', warnings.join('; ') || `the agent says ${outcome}`);
  const [refused] = rejectionsOf(entries);
  if (refused !== undefined) return no('InvalidEntries', rejectionsOf(entries).join('; '));
  return { status: 'True', reason: 'AllInterfacesConfigured', message: success(entries, warnings) };
}

function no(reason: Reason, message: string): Judgement {
  return { status: 'False', reason, message };
}

function describe(nics: readonly NicResult[], entries: readonly Entry[]): string {
  const configured = nics.filter(({ state }) => state === 'Configured').length;
  const open = nics
    .filter(isOpen)
    .map(({ index, reason, message }) => `${interfaceName(index)} ${reason}: ${message}`);
  return `${configured} of ${entries.length} interfaces configured; ${open.join('; ')}`;
}

function success(entries: readonly Entry[], warnings: readonly string[]): string {
  const words =
    entries.length === 0
      ? 'No interfaces: nothing on the node is ours'
      : `All ${entries.length} interfaces configured successfully`;
  return warnings.length === 0 ? words : `${words}; warnings: ${warnings.join(', ')}`;
}

/** Why entries cannot be used, one text each. */
export function rejectionsOf(entries: readonly Entry[]): string[] {
  return entries.flatMap(({ rejection }) => rejection ?? []);
}
