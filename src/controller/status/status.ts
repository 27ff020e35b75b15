import {
  type Condition,
  type ConditionUpdate,
  findCondition,
  rfc3339,
} from '../../api/condition.ts';
import { type JobResult, nicReason } from '../../api/job.ts';
import {
  appliedRecord,
  type InterfaceStatus,
  type KnownInterface,
  type NodeConfigStatus,
} from '../../api/multinicnodeconfig.ts';
import { isSameJson } from '../../api/same-json.ts';
import { type Applied, deliveredMacs, recordOf } from '../jobs/applied.ts';
import type { AcceptedSpec, Entry } from '../jobs/request.ts';
import { type NodeConfig, ownSpecHash } from '../objects/stores.ts';
import type { NameMatch } from '../target.ts';
import { conditionsOf, isRepeat, type RunPhase, readyIn } from './conditions.ts';
import { defined, interfaceStatuses, isConfigured } from './interface-statuses.ts';
import { pausedCondition } from './paused.ts';
import { summaryOf } from './summary.ts';

export interface StatusInput {
  readonly config: NodeConfig;
  readonly spec: Pick<AcceptedSpec, 'entries' | 'blocked'>;
  readonly name: NameMatch | undefined;
  readonly situation: RunPhase;
  /** New record, if any. */
  readonly applied?: Applied | undefined;
  /** New condition Drifted, if a check has finished. */
  readonly drift?: ConditionUpdate | undefined;
  /** Value of `rollout-continue` handled now. */
  readonly continued?: NodeConfigStatus['rolloutContinued'];
  readonly now: Date;
}

/** Returns an object's whole status, from the current phase and the previous status. */
export function statusOf(input: StatusInput): NodeConfigStatus {
  const { config, spec, name, drift, now } = input;
  const situation = situationIn(input);
  const previous: NodeConfigStatus = config.status ?? {};
  const { generation = 0 } = config.metadata;
  const { conditions: before = [], interfaceStatuses: nics = [] } = previous;
  const conditions = conditionsOf({
    spec,
    situation: showsReady(config.status, situation, spec) ? input.situation : situation,
    previous: before,
    name,
    drift,
    paused: pausedCondition(config),
    generation,
    now,
  });
  // With an unreadable spec the removed NICs are unknown.
  const { entries } = spec;
  const statuses = entries ? interfaceStatuses({ entries, situation, previous: nics, now }) : nics;
  const ready = findCondition(conditions, 'Ready');
  return {
    state: stateOf(situation, ready, statuses),
    summary: summaryOf(statuses),
    observedGeneration: generation,
    conditions,
    interfaceStatuses: statuses,
    ...defined({
      observedSpecHash: hashOf(config),
      ...lastRun(situation, previous),
      applied: input.applied ?? recordIn(config, situation),
      rolloutContinued: input.continued ?? previous.rolloutContinued,
    }),
  };
}

/**
 * Returns the record, with the node's MACs if an earlier version stored MACs only in `interfaceStatuses`: these show
 * the requested NICs while a change waits.
 */
function recordIn(config: NodeConfig, { kind }: RunPhase): Applied | undefined {
  const record = recordOf(config);
  const macs = kind === 'waiting' && !record?.macs ? deliveredMacs(config) : [];
  return record && macs.length > 0 ? { ...record, macs: [...macs] } : record;
}

/** Returns the recorded outcome as a phase, if the status no longer shows it. */
function situationIn({ situation, config, applied, spec }: StatusInput): RunPhase {
  const record = applied ?? recordOf(config);
  return (
    (situation.kind === 'recorded' && recordedOutcome(config.status, record, spec)) || situation
  );
}

function lastRun(situation: RunPhase, previous: NodeConfigStatus) {
  return {
    lastProcessed: endOf(situation) ?? previous.lastProcessed,
    lastJobName: jobOf(situation) ?? previous.lastJobName,
    knownInterfaces: knownTo(situation) ?? previous.knownInterfaces,
  };
}

/** Returns the hash from the spec, otherwise our own. */
function hashOf(config: NodeConfig): string | undefined {
  return config.spec?.specHash || ownSpecHash(config);
}

/** Returns the summary state for users; programs read conditions. */
function stateOf(
  situation: RunPhase,
  ready: Condition | undefined,
  nics: readonly InterfaceStatus[],
): NonNullable<NodeConfigStatus['state']> {
  if (ready?.status === 'True') return 'Configured';
  if (ready?.status !== 'False') return situation.kind === 'working' ? 'InProgress' : 'Pending';
  return isPending(situation, ready, nics) ? 'Pending' : 'Failed';
}

/** True if nothing failed but a node is missing, or NICs are not plugged yet. */
function isPending(
  situation: RunPhase,
  { reason }: Condition,
  nics: readonly InterfaceStatus[],
): boolean {
  if (situation.kind === 'refused') return situation.reason === 'NodeNotFound';
  // During a retry Ready still shows the last attempt's outcome.
  const isOfAgent =
    situation.kind === 'ended'
      ? situation.verdict.kind === 'result'
      : isRepeat(situation) && nicReason.safeParse(reason).success;
  return isOfAgent && nics.every(({ status }) => status !== 'Failed');
}

function endOf(situation: RunPhase): string | undefined {
  return situation.kind === 'ended' ? rfc3339(situation.at) : undefined;
}

/** Returns NICs in the host's state file, if the agent has just reported them. */
function knownTo(situation: RunPhase): KnownInterface[] | undefined {
  const verdict = situation.kind === 'ended' ? situation.verdict : undefined;
  const known = verdict?.kind === 'result' ? verdict.result.known : undefined;
  return known?.map(({ index, mac, portId }) => ({
    id: index,
    macAddress: mac,
    ...(portId === undefined ? {} : { portId }),
  }));
}

/** Returns the Job shown in the status; a retry's Job is shown after its end. */
function jobOf(situation: RunPhase): string | undefined {
  if (situation.kind === 'ended') return situation.job;
  return situation.kind === 'working' && !isRepeat(situation) ? situation.run.name : undefined;
}

/**
 * Returns the merge patch to the new status from any stored form, including the legacy controller's; undefined: no
 * change.
 */
export function statusPatch(config: NodeConfig, next: NodeConfigStatus): unknown {
  const dropped = config.statusKeys.filter((key) => !(key in next));
  const same = isSameJson(config.status, comparable(config, next));
  if (same && dropped.length === 0) return undefined;
  return {
    // A write by another client meanwhile makes this a conflict.
    metadata: { resourceVersion: config.metadata.resourceVersion },
    status: {
      ...without(dropped),
      ...next,
      // A merge patch keeps unnamed keys, so stale record keys are removed explicitly.
      ...(next.applied ? { applied: { ...without(recordKeys), ...next.applied } } : {}),
    },
  };
}

/**
 * A missing summary alone causes no write: an upgrade would write every object at once, and an older CRD would drop the
 * summary again.
 */
function comparable({ status }: NodeConfig, next: NodeConfigStatus): NodeConfigStatus {
  if (status?.summary !== undefined) return next;
  const { summary: _, ...rest } = next;
  return rest;
}

const recordKeys = Object.keys(appliedRecord.shape);

function without(keys: readonly string[]): Record<string, null> {
  return Object.fromEntries(keys.map((key) => [key, null]));
}

/**
 * Returns the recorded outcome when the conditions show another phase since: a duplicate, a missing node, or unusable
 * entries. Undefined if the conditions already show the outcome, or if the record is incomplete.
 */
function recordedOutcome(
  status: NodeConfigStatus | undefined,
  applied: Applied | undefined,
  { entries = [] }: Pick<AcceptedSpec, 'entries'>,
): RunPhase | undefined {
  if (!applied?.done || applied.undone || applied.action !== 'apply') return undefined;
  const { job, at, attempt, protocol } = applied;
  const about = { protocol, attempt, uid: '', generation: 0, bootId: '' };
  const result: JobResult = { ...about, outcome: 'ok', nics: nicsOf(entries), warnings: [] };
  const end = {
    kind: 'ended',
    job,
    at: new Date(at),
    verdict: { kind: 'result', result },
    again: true,
  } as const;
  const nics = status?.interfaceStatuses ?? [];
  const usable = entries.filter(({ rejection }) => rejection === undefined);
  const isShown = usable.every((entry) => isConfigured(entry, nics));
  return isShown && showsReady(status, end, { entries }) ? undefined : end;
}

function nicsOf(entries: readonly Entry[]): JobResult['nics'] {
  return entries.flatMap(({ mac, index, rejection }) => {
    if (mac === undefined || index === undefined || rejection !== undefined) return [];
    return [{ index, mac, name: '', state: 'Configured', reason: 'Configured', message: '' }];
  });
}

/** True if Ready already matches; a stored success message may also contain warnings. */
function showsReady(
  status: NodeConfigStatus | undefined,
  end: RunPhase,
  { entries = [] }: Pick<AcceptedSpec, 'entries'>,
): boolean {
  const shown = findCondition(status?.conditions, 'Ready');
  const ready = readyIn(end, entries);
  if (shown?.status !== ready.status || shown.reason !== ready.reason) return false;
  return ready.status === 'True' || ready.message.startsWith(shown.message ?? '');
}
