import {
  type Condition,
  type ConditionUpdate,
  findCondition,
  setCondition,
  shortMessage,
} from '../../api/condition.ts';
import { type Pause, pauseMessage } from '../../api/pause.ts';
import { type OperatorReason, reasons } from '../../api/reasons.ts';
import type { PortVerdict } from '../../plan/plan.ts';
import { isRequestError } from '../../requests/request-error.ts';
import { standing } from '../triggers/causes.ts';
import type { NicCount } from './configured-nics.ts';
import { nicsReadyOf } from './nics-ready.ts';
import type { StepFailure, Trouble } from './step-failure.ts';
import { isLasting } from './undelivered.ts';
import { unusedNote } from './unused-ports.ts';

const shownTroubles = 3;

/** The condition Notifications; undefined: the OpenstackConfig has no broker. */
export type OptionalCondition = ConditionUpdate | undefined;

/** The conditions of an OpenstackConfig, ours and no others; transition times move only when a status flips. */
export function conditionsOf(
  { ending, notifications, nics, ports = [], late = [] }: Found,
  previous: readonly Condition[],
  at: { readonly now: Date; readonly generation: number },
): Condition[] {
  const lasting = isLasting(previous, at.now) ? late : [];
  const ready = readyOf(ending, ports, lasting);
  const updates = [
    ready,
    degradedOf(ready),
    ...progressOf(ending, ready),
    ...stepConditions(ending, late),
    ...unverifiedCondition(ending),
    ...acceptedCondition(ending),
    ...(notifications ? [notifications] : []),
  ];
  const all = withTimes(updates, previous, at);
  return ending.kind === 'deleting' ? all : [...all, nicsReadyOf(nics, previous, at)];
}

/** What a look found. */
interface Found {
  readonly ending: Ending;
  readonly notifications: OptionalCondition;
  /** Undefined: the look did not come so far. */
  readonly nics?: NicCount | undefined;
  readonly ports?: readonly PortVerdict[];
  /** What the business cluster does not hold as it is planned. */
  readonly late?: readonly string[];
}

/** Returns the conditions before with Paused, and with Ready Unknown: nothing is read, so nothing is known. */
export function pausedConditions(
  previous: readonly Condition[],
  pause: Pause,
  at: { readonly now: Date; readonly generation: number },
): Condition[] {
  const message = pauseMessage(pause, 'nothing is read or changed');
  const because = { reason: 'Paused', message } as const;
  const paused = setCondition(previous, { type: 'Paused', status: 'True', ...because }, at);
  return setCondition(paused, { type: 'Ready', status: 'Unknown', ...because }, at);
}

/** Returns the conditions before with what a sync answers Unknown: there was none of this generation yet. */
export function awaitingConditions(
  previous: readonly Condition[],
  message: string,
  at: { readonly now: Date; readonly generation: number },
): Condition[] {
  const kept = previous.filter(({ type }) => type !== 'Paused');
  return ['Ready', 'NICsReady'].reduce<Condition[]>(
    (list, type) =>
      setCondition(list, condition(type, 'Unknown', 'WaitingForTrigger', message), at),
    kept,
  );
}

function withTimes(
  updates: readonly ConditionUpdate[],
  previous: readonly Condition[],
  at: { readonly now: Date; readonly generation: number },
): Condition[] {
  const types = updates.map(({ type }) => type);
  const kept = previous.filter(({ type }) => types.includes(type));
  const set = updates.reduce<Condition[]>((list, update) => setCondition(list, update, at), kept);
  return types.flatMap((type) => findCondition(set, type) ?? []);
}

function condition(
  type: string,
  status: Condition['status'],
  reason: OperatorReason,
  message: string,
): ConditionUpdate & { readonly reason: OperatorReason } {
  return { type, status, reason, message: shortMessage(message) };
}

function readyOf(ending: Ending, ports: readonly PortVerdict[], lasting: readonly string[]) {
  const troubles = troublesOf(ending);
  const [first] = troubles;
  if (first) return condition('Ready', 'False', first.reason, summaryOf(troubles));
  if (ending.kind === 'deleting') {
    const message = `waits for ${ending.waiting.join(' and ')}`;
    return condition('Ready', 'False', 'Deleting', message);
  }
  if (lasting.length > 0) return condition('Ready', 'False', 'Waiting', listed(lasting));
  const sent = ending.kind === 'synced' ? ending.sent : 0;
  const note = unusedNote(ports);
  const also = note === undefined ? '' : `; ${note}`;
  return sent > 0
    ? condition('Ready', 'True', 'Synced', `synced ${sent} node(s)${also}`)
    : condition('Ready', 'True', 'NoChange', `no changes detected${also}`);
}

/** The first trouble names the reason; the others are told as far as they fit, before them what waits for a person. */
function summaryOf([first, ...others]: readonly Trouble[]): string {
  const held = others.filter(({ reason }) => reason === 'RemovalHeld');
  const asks = [...held, ...others.filter(({ reason }) => standing.has(reason))];
  const inOrder = first ? [first, ...asks, ...others] : [];
  return listed([...new Set(inOrder.map(({ message }) => message))]);
}

function listed(messages: readonly string[]): string {
  const more = messages.length - shownTroubles;
  return messages.slice(0, shownTroubles).join('; ') + (more > 0 ? `; and ${more} more` : '');
}

function degradedOf({ status, message, reason }: ConditionUpdate): ConditionUpdate {
  return status === 'True' || reason === 'Deleting'
    ? condition('Degraded', 'False', 'Healthy', 'controller healthy')
    : condition('Degraded', 'True', 'Error', message);
}

/** Reconciling while we go on by ourselves, Stalled when somebody has to do something first (kstatus). */
function progressOf(
  ending: Ending,
  { status, reason, message }: ReturnType<typeof readyOf>,
): ConditionUpdate[] {
  if (status === 'False') {
    const type = reasons[reason].retryable ? 'Reconciling' : 'Stalled';
    return [condition(type, 'True', reason, message)];
  }
  const waiting = ending.kind === 'synced' ? ending.waiting : [];
  return waiting.length > 0
    ? [condition('Reconciling', 'True', 'Waiting', waiting.join('; '))]
    : [];
}

/** A deleted object is not looked up in its cloud any more, so nothing is said about that. */
function stepConditions(ending: Ending, late: readonly string[]): ConditionUpdate[] {
  if (ending.kind === 'deleting') return [];
  return [
    credentialsCondition(ending),
    stepCondition('InventoryComplete', 'listing', ending),
    deliveredCondition(ending, late),
  ];
}

/** What waits is not delivered, although it was not refused either. */
function deliveredCondition(ending: Ending, late: readonly string[]): ConditionUpdate {
  const found = stepCondition('Delivered', 'delivery', ending);
  if (found.status !== 'True' || late.length === 0) return found;
  return condition(found.type, 'False', 'Waiting', listed(late));
}

function credentialsCondition(ending: Ending): ConditionUpdate {
  const found = stepCondition('CredentialsValid', 'credentials', ending);
  const fields = ending.kind === 'synced' ? ending.secretsInSpec : [];
  if (found.status !== 'True' || fields.length === 0) return found;
  const why = `everybody who may read this object reads ${fields.join(' and ')}`;
  return condition(found.type, 'True', 'SecretInSpec', `${found.message}; ${why}`);
}

/** Only where somebody wished for it: of everybody else certificates are verified, and nothing has to be said. */
function unverifiedCondition(ending: Ending): ConditionUpdate[] {
  const whose = ending.kind === 'synced' ? ending.unverified : [];
  if (whose.length === 0) return [];
  const message = `certificates are not verified: of ${whose.join(', of ')}`;
  return [condition('TLSVerified', 'False', 'TLSNotVerified', message)];
}

/** Only where a value of the object is not used as it stands. */
function acceptedCondition(ending: Ending): ConditionUpdate[] {
  const capped = ending.kind === 'synced' || ending.kind === 'failed' ? ending.capped : undefined;
  if (!capped?.length) return [];
  return [condition('Accepted', 'True', 'TimeoutCapped', capped.join('; '))];
}

const good: Readonly<Record<string, string>> = {
  CredentialsValid: 'the account of the cloud was accepted',
  InventoryComplete: 'servers, ports and subnets were read completely',
  Delivered: 'the business cluster holds every node as it was planned',
};

function stepCondition(type: string, step: Step, ending: Ending): ConditionUpdate {
  const state = stateOf(ending, step);
  if (state === 'True') return condition(type, state, 'Healthy', good[type] ?? '');
  const troubles = troublesOf(ending);
  const own = troubles.filter(({ reason }) => stepOf(reason) === step);
  const [first] = own.length > 0 ? own : troubles;
  const why =
    own.length > 0 ? summaryOf(own) : `not tried: ${first?.message ?? 'nothing is known'}`;
  return condition(type, state, first?.reason ?? 'Error', why);
}

/** How a look at an OpenstackConfig ended. */
export type Ending =
  | {
      readonly kind: 'synced';
      /** Nodes that were posted or deleted. */
      readonly sent: number;
      /** What could not be delivered, in the order of the steps; everything else was. */
      readonly troubles: readonly Trouble[];
      /** Nodes that wait for something, with what it is. */
      readonly waiting: readonly string[];
      /** Fields with secrets that everybody can read who may read the object, and what to use instead. */
      readonly secretsInSpec: readonly string[];
      /** Whose certificates are not verified at the wish of the CR. */
      readonly unverified: readonly string[];
      /** Values of the CR that count as less than they say. */
      readonly capped?: readonly string[];
    }
  /** A step failed and the rest was not tried. */
  | {
      readonly kind: 'failed';
      readonly failure: StepFailure;
      readonly capped?: readonly string[];
    }
  /** Fields that cannot be used. */
  | { readonly kind: 'refused'; readonly troubles: readonly Trouble[] }
  | {
      readonly kind: 'deleting';
      readonly troubles: readonly Trouble[];
      readonly waiting: readonly string[];
    };

/** What is wrong, the first step first. */
export function troublesOf(ending: Ending): readonly Trouble[] {
  if (ending.kind === 'failed') return [ending.failure];
  return ending.troubles;
}

/** The step that a reason belongs to. */
export type Step = 'config' | 'credentials' | 'listing' | 'delivery';

const steps: Partial<Record<OperatorReason, Step>> = {
  ConfigError: 'config',
  PolicyDenied: 'config',
  SubnetRequired: 'config',
  ContrabassError: 'credentials',
  KeystoneError: 'credentials',
  NeutronEndpointError: 'listing',
  NeutronPortError: 'listing',
  NeutronSubnetError: 'listing',
  SubnetNotFound: 'listing',
  SubnetNotUnique: 'listing',
  NovaServerError: 'listing',
  ServerNotFound: 'listing',
  ServerNotUnique: 'listing',
};
const order: readonly Step[] = ['config', 'credentials', 'listing', 'delivery'];

export function stepOf(reason: OperatorReason): Step {
  return steps[reason] ?? 'delivery';
}

/** How far a step came: `Unknown` when an earlier one ended the sync. */
export function stateOf(ending: Ending, step: Step): 'True' | 'False' | 'Unknown' {
  if (ending.kind === 'refused') return 'Unknown';
  if (ending.kind !== 'failed') {
    return ending.troubles.some(({ reason }) => stepOf(reason) === step) ? 'False' : 'True';
  }
  const { reason, cause } = ending.failure;
  const failed = stepOf(reason);
  if (failed !== step) return order.indexOf(step) < order.indexOf(failed) ? 'True' : 'Unknown';
  // A service that does not answer says nothing about the credentials.
  const refused = isRequestError(cause, 'unauthorized', 'forbidden', 'badCredential');
  return step === 'credentials' && !refused ? 'Unknown' : 'False';
}
