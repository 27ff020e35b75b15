import {
  type Condition,
  type ConditionUpdate,
  findCondition,
  setCondition,
  shortMessage,
} from '../../api/condition.ts';
import type { Reason } from '../../api/reasons.ts';
import type { Findings } from './findings.ts';

/** Phase and message for the status and condition `Ready`. */
export interface Summary {
  readonly phase: 'Pending' | 'Running' | 'Degraded' | 'Error';
  readonly reason: Reason;
  readonly message: string;
  /** True if only a user can resolve the problem. */
  readonly isStalled: boolean;
}

interface At {
  readonly now: Date;
  readonly generation: number;
}

/** The legacy operator's conditions by component; updated only if an object already has them. */
const legacyTypes = { controller: 'controllerReady', database: 'databaseReady' } as const;

/**
 * Returns a MultiNicOperator's conditions. Ready and Accepted always exist; every other condition appears when True,
 * and becomes False afterwards.
 */
export function conditionsOf(
  findings: Findings,
  summary: Summary,
  isReady: Readonly<Record<keyof typeof legacyTypes, boolean>>,
  previous: readonly Condition[],
  at: At,
): Condition[] {
  const { phase, reason, message, isStalled } = summary;
  const isRunning = phase === 'Running';
  const updates = [
    update('Ready', isRunning, reason, message),
    acceptedOf(findings),
    ...reconcilingOf(findings, summary, previous),
    ...optional('Stalled', isStalled, reason, message, previous),
    ...noticed('SecretInSpec', findings, previous),
    ...noticed('OtherControllerActive', findings, previous),
    ...contestedOf(findings, previous),
    ...driftedOf(findings, previous),
    ...legacyOf(isReady, previous),
  ];
  return updates.reduce<Condition[]>((list, one) => setCondition(list, one, at), [...previous]);
}

/** An operation on the database is named even while all components are ready. */
function reconcilingOf(
  { operation }: Findings,
  { phase, reason, message, isStalled }: Summary,
  previous: readonly Condition[],
): ConditionUpdate[] {
  if (operation !== undefined) {
    return optional('Reconciling', true, 'DatabaseOperation', operation, previous);
  }
  const isOpen = phase !== 'Running' && !isStalled;
  return optional('Reconciling', isOpen, reason, message, previous);
}

function acceptedOf({ problems, ignored, answer }: Findings): ConditionUpdate {
  const [reason, listed]: [Reason, typeof problems] =
    problems.length > 0
      ? ['InvalidSpec', [...problems, ...ignored]]
      : ['InvalidAnnotation', ignored];
  if (listed.length === 0) {
    const message = answer === undefined ? '' : `; ${answer}`;
    return update('Accepted', true, 'Accepted', `all fields are valid${message}`);
  }
  return update('Accepted', false, reason, listed.map(({ message }) => message).join('; '));
}

function noticed(
  type: 'SecretInSpec' | 'OtherControllerActive',
  { notices }: Findings,
  previous: readonly Condition[],
): ConditionUpdate[] {
  const found = notices.filter(({ condition }) => condition === type);
  const [first] = found;
  const message = found.map((one) => one.message).join('; ');
  return optional(type, first !== undefined, first?.reason ?? 'AsSpecified', message, previous);
}

function contestedOf({ contested }: Findings, previous: readonly Condition[]): ConditionUpdate[] {
  const message = `${contestedText(contested)}; stop that field manager, or change this MultiNicOperator instead`;
  return optional('Contested', contested.length > 0, 'Contested', message, previous);
}

/** Returns text naming objects and field managers. */
export function contestedText(contested: readonly string[]): string {
  return `objects that another field manager changes after each repair: ${contested.join('; ')}`;
}

function driftedOf({ drifted }: Findings, previous: readonly Condition[]): ConditionUpdate[] {
  const message = `${drifted.join('; ')}: differs from the spec while recovery is off or paused; to apply the spec again, set spec.protection.enableAutoRecovery to true (and for added fields enableMutationPrevention), and end break-glass`;
  return optional('Drifted', drifted.length > 0, 'RecoveryOff', message, previous);
}

function legacyOf(
  isReady: Readonly<Record<keyof typeof legacyTypes, boolean>>,
  previous: readonly Condition[],
): ConditionUpdate[] {
  return (['controller', 'database'] as const).flatMap((name) => {
    const type = legacyTypes[name];
    if (!findCondition(previous, type)) return [];
    const reason = isReady[name] ? 'AllComponentsReady' : 'ComponentsNotReady';
    return [update(type, isReady[name], reason, `${name} is ${isReady[name] ? '' : 'not '}ready`)];
  });
}

/** Returns a True condition, a False condition if it existed before, otherwise nothing. */
function optional(
  type: string,
  isTrue: boolean,
  reason: Reason,
  message: string,
  previous: readonly Condition[],
): ConditionUpdate[] {
  if (isTrue) return [update(type, true, reason, message)];
  return findCondition(previous, type)
    ? [update(type, false, 'AsSpecified', 'no longer the case')]
    : [];
}

export function update(
  type: string,
  isTrue: boolean,
  reason: Reason,
  message: string,
): ConditionUpdate {
  return { type, status: isTrue ? 'True' : 'False', reason, message: shortMessage(message) };
}
