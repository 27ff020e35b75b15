import {
  type Condition,
  type ConditionUpdate,
  findCondition,
  setCondition,
  shortMessage,
} from '../../../api/condition.ts';
import { counted } from '../../../api/counted.ts';
import type { WaitingNic } from '../../../api/held-nics.ts';
import { namedSome } from '../../../api/named-some.ts';
import { type Pause, pauseMessage } from '../../../api/pause.ts';
import { type OperatorReason, reasons } from '../../../api/reasons.ts';
import type { PortVerdict } from '../../../plan/plan.ts';
import { isRequestError } from '../../../requests/request-error.ts';
import { isSynced } from '../../model/ready.ts';
import { standing } from '../../model/standing-reasons.ts';
import type { StatusProblem, StepFailure } from '../../model/step-failure.ts';
import { isOverBudget } from '../../removals/hold.ts';
import type { DuplicateCluster } from '../result.ts';
import { duplicateText } from './duplicate-cluster.ts';
import { isLasting } from './undelivered.ts';
import { unusedNote } from './unused-ports.ts';

const shownProblems = 3;

/** The condition Notifications; undefined: the OpenstackConfig has no broker. */
export type OptionalCondition = ConditionUpdate | undefined;

/**
 * Returns an OpenstackConfig's conditions without foreign conditions. A transition time changes only with its
 * status.
 */
export function conditionsOf(
  { ending, notifications, ports = [], late = [], lastSyncedAt }: Found,
  previous: readonly Condition[],
  at: { readonly now: Date; readonly generation: number },
): Condition[] {
  const lasting = isLasting(previous, at.now) ? late : [];
  const ready = readyOf(ending, ports, lasting);
  const updates = [
    ready,
    degradedOf(ready),
    ...progressOf(ending, ready),
    ...stepConditions(
      { ending, late, lastSyncedAt },
      findCondition(previous, 'Delivered'),
      at.generation,
    ),
    ...unverifiedCondition(ending),
    ...ownerCondition(ending),
    ...acceptedCondition(ending),
    ...uniqueCondition(ending, findCondition(previous, uniqueType)),
    ...(notifications ? [notifications] : []),
  ];
  return withTimes(updates, previous, at);
}

/** Result of a reconcile. */
interface Found {
  readonly ending: Ending;
  readonly notifications: OptionalCondition;
  readonly ports?: readonly PortVerdict[];
  /** Planned content missing in the business cluster. */
  readonly late?: readonly string[];
  /** Last successful sync (RFC 3339); undefined: none. */
  readonly lastSyncedAt?: string | undefined;
}

/** Returns the previous conditions with Paused True and Ready Unknown: a paused config is not synced. */
export function pausedConditions(
  previous: readonly Condition[],
  pause: Pause,
  at: { readonly now: Date; readonly generation: number },
): Condition[] {
  const message = pauseMessage(pause, 'OpenStack is not read and nothing is changed');
  const because = { reason: 'Paused', message } as const;
  const paused = setCondition(previous, { type: 'Paused', status: 'True', ...because }, at);
  return setCondition(paused, { type: 'Ready', status: 'Unknown', ...because }, at);
}

/** Returns the previous conditions with Ready and NICsReady Unknown: no sync of this generation has run yet. */
export function awaitingConditions(
  previous: readonly Condition[],
  message: string,
  at: { readonly now: Date; readonly generation: number },
): Condition[] {
  const retained = previous.filter(({ type }) => type !== 'Paused');
  return ['Ready', 'NICsReady'].reduce<Condition[]>(
    (list, type) =>
      setCondition(list, condition(type, 'Unknown', 'WaitingForTrigger', message), at),
    retained,
  );
}

function withTimes(
  updates: readonly ConditionUpdate[],
  previous: readonly Condition[],
  at: { readonly now: Date; readonly generation: number },
): Condition[] {
  const types = updates.map(({ type }) => type);
  const retained = previous.filter(({ type }) => types.includes(type));
  const set = updates.reduce<Condition[]>(
    (list, update) => setCondition(list, update, at),
    retained,
  );
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
  const problems = problemsOf(ending);
  const [first] = problems;
  if (first) return condition('Ready', 'False', first.reason, summaryOf(problems));
  if (ending.kind === 'deleting') {
    const message = `waits for ${ending.waiting.join(' and ')}`;
    return condition('Ready', 'False', 'Deleting', message);
  }
  if (lasting.length > 0) return condition('Ready', 'False', 'Waiting', listed(lasting));
  const sent = ending.kind === 'synced' ? ending.sent : 0;
  const note = unusedNote(ports);
  const also = note === undefined ? '' : `; ${note}`;
  if (ending.kind === 'synced' && ending.observes) {
    return condition('Ready', 'Unknown', 'Observed', onlyObserved + also);
  }
  return sent > 0
    ? condition('Ready', 'True', 'Synced', `synced ${counted(sent, 'node')}${also}`)
    : condition('Ready', 'True', 'NoChange', `no changes detected${also}`);
}

const onlyObserved =
  'observe only: nodes are checked, and nothing is changed on them; to apply, set spec.settings.mode to Apply';

/**
 * Summarises problems within the message limit: first problem, problems for the user, then the rest. The
 * first problem also sets the reason.
 */
function summaryOf([first, ...further]: readonly StatusProblem[]): string {
  const blocked = further.filter(({ reason }) => reason === 'RemovalHeld');
  const userActions = [...blocked, ...further.filter(({ reason }) => standing.has(reason))];
  const inOrder = first ? [first, ...userActions, ...further] : [];
  return listed([...new Set(inOrder.map(({ message }) => message))]);
}

function listed(messages: readonly string[]): string {
  return namedSome(messages, shownProblems, { separator: '; ', before: '; and ' });
}

function degradedOf(ready: ConditionUpdate): ConditionUpdate {
  return isSynced(ready) || isUsualDeletion(ready.reason)
    ? condition('Degraded', 'False', 'Healthy', 'controller healthy')
    : condition('Degraded', 'True', 'Error', ready.message);
}

/** True if an OpenstackConfig is in deletion without a fault. */
export function isUsualDeletion(reason: string | undefined): boolean {
  return reason === 'Deleting' || reason === 'DeletionDelayed';
}

/** Returns Reconciling while the operator retries by itself, Stalled when a user must act first (kstatus). */
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

/** Returns no step conditions for a deleted object: its cloud is not read any more. */
function stepConditions(
  {
    ending,
    late,
    lastSyncedAt,
  }: Pick<Found, 'ending' | 'lastSyncedAt'> & { readonly late: readonly string[] },
  before: Condition | undefined,
  generation: number,
): ConditionUpdate[] {
  if (ending.kind === 'deleting') return [];
  const last = lastSyncedAt === undefined ? '' : `; last successful sync at ${lastSyncedAt}`;
  const dated = (found: ConditionUpdate): ConditionUpdate =>
    found.status === 'Unknown' ? { ...found, message: shortMessage(found.message + last) } : found;
  return [
    dated(credentialsCondition(ending)),
    dated(stepCondition('InventoryComplete', 'listing', ending)),
    lastingHold(ending, before, generation) ?? deliveredCondition(ending, late),
  ];
}

/** Returns the Delivered condition of held removals while syncs fail before the delivery: the removals stay held. */
function lastingHold(
  ending: Ending,
  delivered: Condition | undefined,
  generation: number,
): ConditionUpdate | undefined {
  const isOfPresent = delivered?.observedGeneration === generation && isOverBudget(delivered);
  if (!isOfPresent || stateOf(ending, 'delivery') !== 'Unknown') return undefined;
  return condition('Delivered', 'False', 'RemovalHeld', delivered.message ?? '');
}

/** Returns Delivered. A waiting node is not delivered, although Viola did not refuse the node. */
function deliveredCondition(ending: Ending, late: readonly string[]): ConditionUpdate {
  const problems = problemsOf(ending);
  const held = problems.find(isOverBudget);
  // First, because later syncs read the hold here.
  if (held) {
    const rest = problems.filter((one) => one !== held && stepOf(one.reason) === 'delivery');
    return condition('Delivered', 'False', held.reason, summaryOf([held, ...rest]));
  }
  const found = stepCondition('Delivered', 'delivery', ending);
  if (found.status !== 'True' || late.length === 0) return found;
  return condition(found.type, 'False', 'Waiting', listed(late));
}

function credentialsCondition(ending: Ending): ConditionUpdate {
  const found = stepCondition('CredentialsValid', 'credentials', ending);
  const fields = ending.kind === 'synced' ? ending.secretsInSpec : [];
  if (found.status !== 'True' || fields.length === 0) return found;
  const why = `every user who may read this object can read ${fields.join(' and ')}`;
  return condition(found.type, 'True', 'SecretInSpec', `${found.message}; ${why}`);
}

/**
 * Returns TLSVerified False only if the CR disables verification; otherwise certificates are always verified.
 */
function unverifiedCondition(ending: Ending): ConditionUpdate[] {
  const endpoints = ending.kind === 'synced' ? ending.unverified : [];
  if (endpoints.length === 0) return [];
  const message = `certificates are not verified for ${endpoints.join(' and ')}`;
  return [condition('TLSVerified', 'False', 'TLSNotVerified', message)];
}

/** Returns OwnerVerified False only for nodes whose owner only the name shows. */
function ownerCondition(ending: Ending): ConditionUpdate[] {
  const nodes = ending.kind === 'synced' ? (ending.unverifiedNodes ?? []) : [];
  if (nodes.length === 0) return [];
  const names = namedSome(nodes, shownProblems, { separator: ' and ' });
  const were = nodes.length === 1 ? 'was' : 'were';
  const message = `owner unverified: ${names} ${were} delivered for an OpenstackConfig with this name and another uid, by an operator that names no management cluster; the next POST to a node writes cluster and cloud, and ends this condition. If another management cluster still delivers them, deselect the servers in one of the two`;
  return [condition('OwnerVerified', 'False', 'OwnerUnverified', message)];
}

/** Returns Accepted only if the operator lowers a value from the spec. */
function acceptedCondition(ending: Ending): ConditionUpdate[] {
  const capped = ending.kind === 'synced' || ending.kind === 'failed' ? ending.capped : undefined;
  if (!capped?.length) return [];
  return [condition('Accepted', 'True', 'TimeoutCapped', capped.join('; '))];
}

const uniqueType = 'ClusterUnique';

/** Returns ClusterUnique False only if the business cluster has several ids; a failed sync leaves the last answer. */
function uniqueCondition(ending: Ending, previous: Condition | undefined): ConditionUpdate[] {
  if (ending.kind === 'deleting') return [];
  const last = ending.kind === 'synced' ? undefined : previous?.message;
  const found = ending.kind === 'synced' ? ending.duplicate : undefined;
  const message = found ? duplicateText(found) : last;
  return message === undefined ? [] : [condition(uniqueType, 'False', 'DuplicateCluster', message)];
}

const good: Readonly<Record<string, string>> = {
  CredentialsValid: 'the cloud accepted the credentials',
  InventoryComplete: 'servers, ports and subnets were read completely',
  Delivered: 'the business cluster has every node as planned',
};

/** Delivered when every node is as planned. */
export const delivered = condition('Delivered', 'True', 'Healthy', good['Delivered'] ?? '');

function stepCondition(type: string, step: Step, ending: Ending): ConditionUpdate {
  const state = stateOf(ending, step);
  if (state === 'True') return condition(type, state, 'Healthy', good[type] ?? '');
  const problems = problemsOf(ending);
  const own = problems.filter(({ reason }) => stepOf(reason) === step);
  const [first] = own.length > 0 ? own : problems;
  const why = own.length > 0 ? summaryOf(own) : `not tried: ${first?.message ?? 'no result yet'}`;
  return condition(type, state, first?.reason ?? 'Error', why);
}

/** Outcome of a reconcile. */
export type Ending =
  | {
      readonly kind: 'synced';
      /** Number of posted or deleted nodes. */
      readonly sent: number;
      /** Problems, ordered by step; all remaining nodes were delivered. */
      readonly problems: readonly StatusProblem[];
      /** Waiting nodes with their reasons. */
      readonly waiting: readonly string[];
      /** Spec fields with secrets readable by everyone who may read the object, each with its replacement. */
      readonly secretsInSpec: readonly string[];
      /** Endpoints with certificate verification disabled by the CR. */
      readonly unverified: readonly string[];
      /** Nodes with an unverified owner. */
      readonly unverifiedNodes?: readonly string[];
      /** CR values above a maximum, which the operator lowers. */
      readonly capped?: readonly string[];
      readonly duplicate?: DuplicateCluster | undefined;
      /** True: mode Observe. */
      readonly observes?: boolean | undefined;
    }
  /** A step failed, and later steps did not run. */
  | {
      readonly kind: 'failed';
      readonly failure: StepFailure;
      readonly capped?: readonly string[];
    }
  /** Invalid fields. */
  | { readonly kind: 'refused'; readonly problems: readonly StatusProblem[] }
  | {
      readonly kind: 'deleting';
      readonly problems: readonly StatusProblem[];
      readonly waiting: readonly string[];
      /** True: the user's consent was open, and is now used up, also if NICs beyond the consent stay. */
      readonly hadConsent?: boolean;
      /** NICs waiting for consent; undefined: not read. */
      readonly heldNics?: readonly WaitingNic[];
    };

/** Returns the problems, ordered by step. */
export function problemsOf(ending: Ending): readonly StatusProblem[] {
  if (ending.kind === 'failed') return [ending.failure];
  return ending.problems;
}

/** The step behind a reason. */
type Step = 'config' | 'credentials' | 'listing' | 'delivery';

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
  ServerSoftDeleted: 'listing',
};
const order: readonly Step[] = ['config', 'credentials', 'listing', 'delivery'];

function stepOf(reason: OperatorReason): Step {
  return steps[reason] ?? 'delivery';
}

/** Returns a step's state; `Unknown` if an earlier step ended the sync. */
function stateOf(ending: Ending, step: Step): 'True' | 'False' | 'Unknown' {
  if (ending.kind === 'refused') return 'Unknown';
  if (ending.kind !== 'failed') {
    return ending.problems.some(({ reason }) => stepOf(reason) === step) ? 'False' : 'True';
  }
  const { reason, cause } = ending.failure;
  const failed = stepOf(reason);
  if (failed !== step) return order.indexOf(step) < order.indexOf(failed) ? 'True' : 'Unknown';
  // An unreachable service proves nothing about the credentials.
  const refused = isRequestError(cause, 'unauthorized', 'forbidden', 'badCredential');
  return step === 'credentials' && !refused ? 'Unknown' : 'False';
}
