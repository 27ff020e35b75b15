import {
  type Condition,
  type ConditionUpdate,
  findCondition,
  setCondition,
  shortMessage,
} from '../../api/condition.ts';
import { counted } from '../../api/counted.ts';
import { isBeyondApply, nicReasonIn } from '../../api/job.ts';
import { nodeReadyType } from '../../api/multinicnodeconfig.ts';
import { interfaceName } from '../../api/names.ts';
import { reasons } from '../../api/reasons.ts';
import { completionOf } from '../jobs/applied.ts';
import { isOpen } from '../jobs/evidence.ts';
import type { AcceptedSpec } from '../jobs/request.ts';
import type { NodeConfig } from '../objects/stores.ts';
import { nodeNotReady } from '../objects/unready-nodes.ts';
import type { NameMatch } from '../target.ts';
import { type Observation, observedReady } from './observed.ts';
import { blockedReady, type Judgement, judgedNics, readyIn, rejectionsOf } from './ready.ts';
import { type Hold, isRepeat, type RolloutHold, type RunPhase } from './run-phase.ts';

interface ConditionsInput {
  readonly situation: RunPhase;
  readonly spec: Pick<AcceptedSpec, 'entries' | 'blocked'>;
  /** Undefined: the node is unknown. */
  readonly name: NameMatch | undefined;
  /** Drift found by a check; undefined: no check has finished. */
  readonly drift: ConditionUpdate | undefined;
  /** Undefined: the gate was not asked; the earlier hold stays. */
  readonly hold?: Hold | undefined;
  /** Why the state of the node's NICs is unknown. */
  readonly unready?: string | undefined;
  /** NICs left unchanged until the rollout continues. */
  readonly heldNics?: RolloutHold | undefined;
  /** Ready by the record, if the previous Ready showed only that the node was not ready. */
  readonly appliedReady?: Judgement | undefined;
  /** In mode Observe: findings in place of a run's progress. */
  readonly observation?: Observation | undefined;
  /** Condition Paused, if the object is paused. */
  readonly paused?: readonly ConditionUpdate[];
  readonly previous: readonly Condition[];
  readonly generation: number;
  readonly now: Date;
}

/** Returns all our conditions of one object, in reading order. */
export function conditionsOf(input: ConditionsInput): Condition[] {
  const { previous, generation, now, unready, observation } = input;
  const drift = drifted(input);
  const updates = [
    ...(observation ? observedProgress(observation, drift) : progressOf(input)),
    accepted(input.spec),
    ...nodeReady(unready),
    ...drift,
    ...nameDiffers(input.name),
    ...(input.paused ?? []),
    ...rolloutStopped(input),
  ];
  const before = previous.filter(({ type }) => updates.some((update) => update.type === type));
  const at = { now, generation };
  const set = updates.reduce<Condition[]>(
    (list, update) => setCondition(list, cut(update), at),
    before,
  );
  return order.flatMap((type) => set.find((condition) => condition.type === type) ?? []);
}

/** Returns Ready and the stages of the last run. */
function progressOf(input: ConditionsInput): readonly ConditionUpdate[] {
  const retained = withAppliedReady(retainedProgress(input), input.appliedReady);
  const progress = checkedProgress(input) ?? (retained.length > 0 ? retained : progressIn(input));
  const { hold, unready, heldNics } = input;
  const part = partialProgress(progress, heldNics);
  const held = hold?.message === undefined ? part : heldProgress(part, hold.message);
  return unready === undefined ? held : unreadyProgress(held, unready);
}

function observedProgress(
  observation: Observation,
  [drift]: readonly ConditionUpdate[],
): readonly ConditionUpdate[] {
  return [{ type: 'Ready', ...observedReady(observation, drift) }];
}

const progressTypes = ['Ready', 'Applied', 'Verified', 'Persistent', 'Reconciling', 'Stalled'];
const order = [
  'Ready',
  'Accepted',
  ...progressTypes.slice(1),
  nodeReadyType,
  'Drifted',
  'NameDiffers',
  'Paused',
  'RolloutStopped',
];

/** Returns the conditions kept from the last attempt. A retry adds nothing new until its run ends or fails to start. */
function retainedProgress({
  situation,
  previous,
  generation,
  hold,
}: ConditionsInput): ConditionUpdate[] {
  const inTrouble =
    (situation.kind === 'working' && situation.run.trouble !== undefined) ||
    (situation.kind === 'waiting' && situation.reason !== 'WaitingForTurn');
  const isReleased = hold !== undefined && hold.message === undefined;
  const wasHeld = findCondition(previous, 'Ready')?.reason === 'RemovalHeld';
  if (!isRepeat(situation) || inTrouble || (isReleased && wasHeld)) return [];
  // A recorded outcome is about the current content, even under an older generation number.
  const isCurrent = ({ observedGeneration }: Condition): boolean =>
    situation.kind === 'recorded' || observedGeneration === generation;
  return previous
    .filter((condition) => progressTypes.includes(condition.type) && isCurrent(condition))
    .map(asUpdate);
}

function asUpdate({ type, status, reason = '', message = '' }: Condition): ConditionUpdate {
  return { type, status, reason, message };
}

/**
 * Returns Ready after a check that finds a failure beyond an apply, or an earlier one gone; undefined otherwise. The
 * last run's stages stay. No agent starts, so a user must act: Stalled, whatever the reason means after a run.
 */
function checkedProgress({ situation, spec, previous }: ConditionsInput) {
  const check = situation.kind === 'recorded' ? situation.check : undefined;
  if (!check || !(check.nics.some(isBeyondApply) || isFailedByCheck(previous))) return undefined;
  const others = check.nics.filter((nic) => !isOpen(nic) || isBeyondApply(nic));
  const ready = judgedNics({ nics: others, outcome: 'ok', warnings: [] }, spec.entries ?? []);
  const stages = previous.filter(({ type }) => stageTypes.has(type));
  return [
    { type: 'Ready', ...ready },
    ...stages.map(asUpdate),
    ...(ready.status === 'True' ? [] : [{ type: 'Stalled', ...ready, status: 'True' as const }]),
  ];
}

/** True if Ready is False by a check. Checks follow complete runs only: a reason beyond an apply is from a check. */
function isFailedByCheck(previous: readonly Condition[]): boolean {
  const ready = findCondition(previous, 'Ready');
  const reason = nicReasonIn(ready?.reason);
  if (ready?.status !== 'False' || reason === undefined) return false;
  return reason === 'VerifyFailed' || isBeyondApply({ state: 'Failed', reason });
}

/** Ready is False while a NIC stays that the object does not list; other problems come first. */
function heldProgress(progress: readonly ConditionUpdate[], message: string): ConditionUpdate[] {
  const held = blockedReady(message);
  const ready = progress.find(({ type }) => type === 'Ready');
  if (ready && !(ready.status === 'True' || ready.reason === held.reason)) return [...progress];
  return [
    { type: 'Ready', ...held },
    ...progress.filter(({ type }) => stageTypes.has(type)),
    { type: 'Stalled', ...held, status: 'True' },
  ];
}

/** Ready is Unknown while NICs wait for a rollout; problems come first. */
function partialProgress(
  progress: readonly ConditionUpdate[],
  heldNics: RolloutHold | undefined,
): readonly ConditionUpdate[] {
  const ready = progress.find(({ type }) => type === 'Ready');
  if (!heldNics?.why || ready?.status !== 'True') return progress;
  const { reason, message, isStopped } = heldNics.why;
  const activityType = isStopped ? 'Stalled' : 'Reconciling';
  return [
    { type: 'Ready', status: 'Unknown', reason, message },
    ...progress.filter(({ type }) => stageTypes.has(type)),
    { type: activityType, status: 'True', reason, message },
  ];
}

/** Returns the progress with Ready as before the node became not ready. */
function withAppliedReady(
  progress: readonly ConditionUpdate[],
  ready: Judgement | undefined,
): readonly ConditionUpdate[] {
  if (!ready || progress.length === 0) return progress;
  return [{ type: 'Ready', ...ready }, ...progress.filter(({ type }) => stageTypes.has(type))];
}

/** Ready is Unknown for a node that is not ready; other problems come first. */
function unreadyProgress(
  progress: readonly ConditionUpdate[],
  message: string,
): readonly ConditionUpdate[] {
  const ready = progress.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True') return progress;
  const unknown = { status: 'Unknown', reason: nodeNotReady, message } as const;
  return [
    { type: 'Ready', ...unknown },
    ...progress.filter(({ type }) => stageTypes.has(type)),
    { type: 'Reconciling', ...unknown, status: 'True' },
  ];
}

/** Present beside every Ready: a problem such as a held removal stays in Ready, whose NICs are unknown nevertheless. */
function nodeReady(message: string | undefined): ConditionUpdate[] {
  if (message === undefined) return [];
  return [{ type: nodeReadyType, status: 'Unknown', reason: nodeNotReady, message }];
}

const stageTypes: ReadonlySet<string> = new Set(['Applied', 'Verified', 'Persistent']);

function progressIn({ situation, spec }: ConditionsInput): ConditionUpdate[] {
  const ready = readyIn(situation, spec.entries ?? []);
  return [
    { type: 'Ready', ...ready },
    ...stagesIn(situation, ready),
    ...activity(situation, ready),
  ];
}

/** Returns Reconciling while the controller continues alone, Stalled when a user must act, and neither when done. */
function activity(situation: RunPhase, ready: Judgement): ConditionUpdate[] {
  if (ready.status === 'True') return [];
  const { reason, message } = ready;
  const type = goesOn(situation, ready) ? 'Reconciling' : 'Stalled';
  return [{ type, status: 'True', reason, message }];
}

function goesOn(situation: RunPhase, ready: Judgement): boolean {
  if (situation.kind === 'waiting' && situation.isStopped) return false;
  const verdict = situation.kind === 'ended' ? situation.verdict : undefined;
  const list = verdict ? completionOf(verdict).reasons : [ready.reason];
  return list.some((reason) => reasons[reason].retryable);
}

function accepted({ entries = [], blocked }: ConditionsInput['spec']): ConditionUpdate {
  const message = rejectionsOf(entries).join('; ') || blocked;
  return message === undefined
    ? { type: 'Accepted', status: 'True', reason: 'Accepted', message: usable(entries.length) }
    : { type: 'Accepted', status: 'False', reason: 'InvalidEntries', message };
}

function usable(count: number): string {
  if (count === 0) return 'the spec has no entries';
  return count === 1 ? '1 entry can be used' : `all ${count} entries can be used`;
}

/**
 * Keeps the last check's finding until the next check, or until everything was applied again. A check finds no drift in
 * contents without an apply.
 */
function drifted({ situation, drift, previous }: ConditionsInput): ConditionUpdate[] {
  if (drift) return [drift];
  if (situation.kind === 'recorded' && situation.check) return [];
  const before = findCondition(previous, 'Drifted');
  if (!before) return [];
  const isNew = situation.kind === 'ended' && !situation.again;
  const isHealed = isNew && completionOf(situation.verdict).done;
  if (isHealed) return [asApplied];
  return [asUpdate(before)];
}

export const asApplied: ConditionUpdate = {
  type: 'Drifted',
  status: 'False',
  reason: 'AsApplied',
  message: 'the node matches what was applied',
};

function nameDiffers(name: NameMatch | undefined): ConditionUpdate[] {
  if (!name || name.kind === 'same') return [];
  const status = name.kind === 'differs' ? 'True' : 'Unknown';
  return [{ type: 'NameDiffers', status, reason: 'NameDiffers', message: name.message }];
}

function rolloutStopped({ situation, heldNics }: ConditionsInput): ConditionUpdate[] {
  const waits = situation.kind === 'waiting' && situation.isStopped ? situation : heldNics?.why;
  if (!waits?.isStopped) return [];
  const { message } = waits;
  return [{ type: 'RolloutStopped', status: 'True', reason: 'RolloutStopped', message }];
}

function cut(update: ConditionUpdate): ConditionUpdate {
  return { ...update, message: shortMessage(update.message) };
}

/** Stages of a NIC: applied to the kernel, read back, and written to boot files. */
const stages = ['Applied', 'Verified', 'Persistent'] as const;

/**
 * Returns conditions Applied, Verified and Persistent. The agent rolls back a NIC that fails at any stage, hence a
 * failed NIC has reached none; its reason names the failed stage.
 */
function stagesIn(situation: RunPhase, ready: Judgement) {
  const judgement = stageIn(situation, ready);
  return stages.map((type) => ({ type, ...judgement }));
}

function stageIn(situation: RunPhase, ready: Judgement): Judgement {
  const verdict = situation.kind === 'ended' ? situation.verdict : undefined;
  if (verdict?.kind !== 'result') return { ...ready, status: 'Unknown' };
  const { nics } = verdict.result;
  const there = nics.filter(({ state }) => state === 'Configured').length;
  const failed = nics.filter(isOpen);
  if (failed.length === 0) {
    return { status: 'True', reason: 'JobSucceeded', message: counted(there, 'interface') };
  }
  const names = failed.map(({ index, reason }) => `${interfaceName(index)} ${reason}`);
  const message = `${there} of ${counted(there + failed.length, 'interface')}; ${names.join(', ')}`;
  return { status: 'False', reason: there > 0 ? 'JobFailedPartial' : 'JobFailed', message };
}

/** True if the last check found drift. */
export function isDrifted(status: NodeConfig['status']): boolean {
  return findCondition(status?.conditions, 'Drifted')?.status === 'True';
}
