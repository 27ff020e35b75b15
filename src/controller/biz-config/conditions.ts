import {
  type Condition,
  type ConditionUpdate,
  findCondition,
  setCondition,
  shortMessage,
} from '../../api/condition.ts';
import { counted } from '../../api/counted.ts';
import type { BizConfigStatus } from '../../api/multinicbizconfig.ts';
import { namedSome } from '../../api/named-some.ts';
import { annotations } from '../../api/names.ts';
import { type Reason, reasons } from '../../api/reasons.ts';
import type { BizConfig } from '../../biz-config/biz-config.ts';
import type { Mode } from './mode.ts';
import type { NodeOutcome } from './node-status.ts';
import type { ExpansionPlan } from './plan.ts';

export interface ConditionsInput {
  readonly source: BizConfig;
  readonly mode: Mode;
  readonly plan: Pick<ExpansionPlan, 'held' | 'heldByController' | 'deletions'>;
  readonly nodes: readonly NodeOutcome[];
  /** Refused deletions, consents and label removals, with reasons. */
  readonly refusals?: readonly string[];
  readonly summary: NonNullable<BizConfigStatus['summary']>;
  /** Names of pending nodes that have not been ready: nothing is in progress on them. */
  readonly unready: readonly string[];
  /** Number of nodes in mode Observe: nothing is in progress on them. */
  readonly observed: number;
  readonly now: Date;
}

/** Maximum number of names in a message. */
const mostNamed = 5;

const noNodes = 'nodeConfigs lists no nodes';

/** Returns all conditions of a MultiNicBizConfig, in reading order. */
export function conditionsOf(input: ConditionsInput): Condition[] {
  const { source, now } = input;
  const { generation = 0 } = source.metadata;
  const ready = readyIn(input);
  const updates: ConditionUpdate[] = [
    { type: 'Ready', ...ready },
    acceptedIn(input),
    { type: 'Applied', ...appliedIn(input, ready) },
    inProgressIn(input, ready),
    ...activityIn(ready),
    ...readOnlyIn(input),
    ...heldIn(input),
  ];
  const before = source.status?.conditions ?? [];
  const at = { now, generation };
  return updates.flatMap((update) => {
    const last = before.filter(({ type }) => type === update.type);
    return setCondition(last, { ...update, message: shortMessage(update.message) }, at);
  });
}

type Judgement = Omit<ConditionUpdate, 'type' | 'reason'> & { readonly reason: Reason };

function readyIn(input: ConditionsInput): Judgement {
  const { source, plan } = input;
  if (source.spec === undefined) return no('SpecUnreadable', source.flaw);
  if (hasHeld(plan)) return no('RemovalHeld', heldMessage(input));
  const refused = refusedIn(input);
  if (refused.length > 0) return no('EntriesRefused', shortened(refused));
  const { refusals = [] } = input;
  if (refusals.length > 0) return no('NodeConfigRefused', shortened(refusals));
  return progressIn(input);
}

/** Returns whether the nodes are configured, apart from waiting removals. */
function progressIn({ summary, unready, observed }: ConditionsInput): Judgement {
  const { totalNodes: total = 0, failedNodes = 0, pendingNodes = 0 } = summary;
  if (failedNodes > 0)
    return no('NodesFailed', `${failedNodes} of ${counted(total, 'node')} failed`);
  const absent = `${counted(unready.length, 'node has', 'nodes have')} not been ready for five minutes, and the state of the NICs is unknown: ${namedSome(unready, mostNamed)}`;
  if (pendingNodes > unready.length + observed) {
    const message = [processing(total), ...(unready.length > 0 ? [absent] : [])].join('; ');
    return { status: 'Unknown', reason: 'ProcessingNodes', message };
  }
  if (unready.length > 0) return { status: 'Unknown', reason: 'NodeNotReady', message: absent };
  if (observed > 0) {
    const message = `observe only: ${observed} of ${counted(total, 'node')} with spec.mode Observe`;
    return { status: 'Unknown', reason: 'Observed', message };
  }
  const message = total === 0 ? noNodes : `${counted(total, 'node')} configured`;
  return { status: 'True', reason: 'AllNodesConfigured', message };
}

/** Returns condition Applied; an edit in read-only mode is not applied. */
function appliedIn(input: ConditionsInput, ready: Judgement): Judgement {
  const [edit] = readOnlyIn(input);
  if (!edit || differingIn(input) === 0) return ready;
  return no('ReadOnly', edit.message);
}

function inProgressIn(input: ConditionsInput, ready: Judgement): ConditionUpdate {
  const { summary, unready, observed } = input;
  const { totalNodes = 0, pendingNodes = 0 } = summary;
  if (pendingNodes <= unready.length + observed)
    return { type: 'InProgress', ...ready, status: 'False' };
  const message = processing(totalNodes);
  return { type: 'InProgress', status: 'True', reason: 'ProcessingNodes', message };
}

function processing(total: number): string {
  return `Processing network configurations for ${counted(total, 'node')}`;
}

/**
 * Returns Reconciling while the controller continues alone, Stalled when a user must act, and neither when done or when
 * nodes are only observed.
 */
function activityIn({ status, reason, message }: Judgement): ConditionUpdate[] {
  if (status === 'True' || reason === 'Observed') return [];
  const goesOn = reasons[reason].retryable && reason !== 'RemovalHeld';
  return [{ type: goesOn ? 'Reconciling' : 'Stalled', status: 'True', reason, message }];
}

function acceptedIn(input: ConditionsInput): ConditionUpdate {
  const { source, mode, nodes } = input;
  const type = 'Accepted';
  if (source.spec === undefined) return { type, ...no('SpecUnreadable', source.flaw) };
  if (mode.unknown !== undefined) return { type, ...no('UnknownMode', mode.why) };
  const refused = refusedIn(input);
  if (refused.length > 0) return { type, ...no('EntriesRefused', shortened(refused)) };
  const message = nodes.length === 0 ? noNodes : `${counted(nodes.length, 'node')} can be used`;
  return { type, status: 'True', reason: 'Accepted' satisfies Reason, message };
}

function refusedIn({ nodes }: ConditionsInput): string[] {
  return nodes.flatMap(({ entry }) =>
    entry.kind === 'refused'
      ? [`nodeConfigs[${entry.position}].${entry.refusal.field}: ${entry.refusal.message}`]
      : [],
  );
}

function shortened(texts: readonly string[]): string {
  return namedSome(texts, mostNamed, { separator: '; ', before: '; and ' });
}

function readOnlyIn(input: ConditionsInput): ConditionUpdate[] {
  const { mode } = input;
  if (mode.kind === 'active') return [];
  const differing = differingIn(input);
  const differ = `${counted(differing, 'node')} would change; the edit is not followed`;
  const message = differing === 0 ? mode.why : `${mode.why}; ${differ}`;
  return [{ type: 'ReadOnly', status: 'True', reason: 'ReadOnly' satisfies Reason, message }];
}

/** True if an edit is not followed: condition Applied then has reason ReadOnly. */
export function namesEdit(conditions: readonly Condition[] | undefined): boolean {
  return findCondition(conditions, 'Applied')?.reason === 'ReadOnly';
}

/** Returns the number of nodes that would change in active mode. */
function differingIn({ plan, nodes }: Pick<ConditionsInput, 'plan' | 'nodes'>): number {
  const steps = nodes.filter(({ step }) => step.kind === 'write' || step.kind === 'held');
  return steps.length + plan.deletions.length;
}

function heldIn(input: ConditionsInput): ConditionUpdate[] {
  if (!hasHeld(input.plan)) return [];
  const message = heldMessage(input);
  return [{ type: 'RemovalHeld', status: 'True', reason: 'RemovalHeld' satisfies Reason, message }];
}

function hasHeld({ held, heldByController }: ConditionsInput['plan']): boolean {
  return held.names.length + heldByController.length > 0;
}

function heldMessage({ plan: { held, heldByController } }: ConditionsInput): string {
  const [here, there] = [held.names.length, heldByController.length];
  const causes = [
    ...(here > 0 ? [`${held.why} (${namedSome(held.names, mostNamed)})`] : []),
    ...(there > 0
      ? [
          `the controller holds removals on ${counted(there, 'node')} (${namedSome(heldByController, mostNamed)})`,
        ]
      : []),
  ];
  const undo =
    there > 0 ? 'an edit can be undone instead, a deletion cannot' : 'otherwise undo the edit';
  return `${causes.join('; ')}: to confirm, set the annotation ${annotations.allowRemovals} to a new value, such as the time; ${undo}`;
}

function no(reason: Reason, message: string): Judgement {
  return { status: 'False', reason, message };
}
