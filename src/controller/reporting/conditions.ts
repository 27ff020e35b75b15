import {
  type Condition,
  type ConditionUpdate,
  setCondition,
  shortMessage,
} from '../../api/condition.ts';
import { reasons } from '../../api/reasons.ts';
import type { AcceptedSpec } from '../accept.ts';
import { outcomeOf } from '../results/outcome.ts';
import type { NameMatch } from '../target.ts';
import { type Judgement, readyIn, rejectionsOf } from './ready.ts';
import type { Situation } from './situation.ts';
import { isRepeat } from './situation.ts';
import { stagesIn } from './stages.ts';

export interface ConditionsInput {
  readonly situation: Situation;
  readonly spec: Pick<AcceptedSpec, 'entries' | 'blocked'>;
  /** Undefined while no node is known. */
  readonly name: NameMatch | undefined;
  readonly previous: readonly Condition[];
  readonly generation: number;
  readonly now: Date;
}

/** All conditions of one object, ours and no others, in the order in which people read them. */
export function conditionsOf(input: ConditionsInput): Condition[] {
  const { previous, generation, now } = input;
  const kept = keptProgress(input);
  const updates = [
    ...(kept.length > 0 ? kept : progressIn(input)),
    accepted(input.spec),
    ...nameDiffers(input.name),
  ];
  const before = previous.filter(({ type }) => updates.some((update) => update.type === type));
  const at = { now, generation };
  const set = updates.reduce<Condition[]>(
    (list, update) => setCondition(list, cut(update), at),
    before,
  );
  return order.flatMap((type) => set.find((condition) => condition.type === type) ?? []);
}

const progressTypes = ['Ready', 'Applied', 'Verified', 'Persistent', 'Reconciling', 'Stalled'];
const order = ['Ready', 'Accepted', ...progressTypes.slice(1), 'NameDiffers'];

/**
 * What stays of the last attempt's conditions: an attempt that is repeated says nothing new until it has ended or does not
 * get to work.
 */
function keptProgress({ situation, previous, generation }: ConditionsInput): ConditionUpdate[] {
  const inTrouble =
    (situation.kind === 'working' && situation.run.trouble !== undefined) ||
    (situation.kind === 'waiting' && situation.reason !== 'WaitingForTurn');
  if (!isRepeat(situation) || inTrouble) return [];
  // A recorded ending is about the content of this generation, under whichever number it was seen.
  const isCurrent = ({ observedGeneration }: Condition): boolean =>
    situation.kind === 'recorded' || observedGeneration === generation;
  return previous
    .filter((condition) => progressTypes.includes(condition.type) && isCurrent(condition))
    .map(({ type, status, reason = '', message = '' }) => ({ type, status, reason, message }));
}

function progressIn({ situation, spec }: ConditionsInput): ConditionUpdate[] {
  const ready = readyIn(situation, spec.entries ?? []);
  return [
    { type: 'Ready', ...ready },
    ...stagesIn(situation, ready),
    ...activity(situation, ready),
  ];
}

/** Reconciling while we go on by ourselves, Stalled when somebody else has to do something; neither when all is done. */
function activity(situation: Situation, ready: Judgement): ConditionUpdate[] {
  if (ready.status === 'True') return [];
  const { reason, message } = ready;
  const type = goesOn(situation, ready) ? 'Reconciling' : 'Stalled';
  return [{ type, status: 'True', reason, message }];
}

function goesOn(situation: Situation, ready: Judgement): boolean {
  const verdict = situation.kind === 'ended' ? situation.verdict : undefined;
  const list = verdict ? outcomeOf(verdict).reasons : [ready.reason];
  return list.some((reason) => reasons[reason].retryable);
}

function accepted({ entries = [], blocked }: ConditionsInput['spec']): ConditionUpdate {
  const message = rejectionsOf(entries).join('; ') || blocked;
  return message === undefined
    ? { type: 'Accepted', status: 'True', reason: 'Accepted', message: usable(entries.length) }
    : { type: 'Accepted', status: 'False', reason: 'InvalidEntries', message };
}

function usable(count: number): string {
  return count === 0 ? 'there are no entries' : `all ${count} entries can be used`;
}

function nameDiffers(name: NameMatch | undefined): ConditionUpdate[] {
  if (!name || name.kind === 'same') return [];
  const status = name.kind === 'differs' ? 'True' : 'Unknown';
  return [{ type: 'NameDiffers', status, reason: 'NameDiffers', message: name.message }];
}

function cut(update: ConditionUpdate): ConditionUpdate {
  return { ...update, message: shortMessage(update.message) };
}
