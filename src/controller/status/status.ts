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

export interface StatusInput {
  readonly config: NodeConfig;
  readonly spec: Pick<AcceptedSpec, 'entries' | 'blocked'>;
  readonly name: NameMatch | undefined;
  readonly situation: RunPhase;
  /** The record, where there is a new one. */
  readonly applied?: Applied | undefined;
  /** What the condition Drifted says, where a look has ended. */
  readonly drift?: ConditionUpdate | undefined;
  /** The value of `rollout-continue` that is handled now. */
  readonly continued?: NodeConfigStatus['rolloutContinued'];
  readonly now: Date;
}

/** The whole status of one object: of its world now, and of what the status said before. */
export function statusOf(input: StatusInput): NodeConfigStatus {
  const { config, spec, name, drift, now } = input;
  const situation = situationIn(input);
  const previous: NodeConfigStatus = config.status ?? {};
  const { generation = 0 } = config.metadata;
  const { conditions: before = [], interfaceStatuses: nics = [] } = previous;
  const conditions = conditionsOf({
    spec,
    situation: isReadyTold(config.status, situation, spec) ? input.situation : situation,
    previous: before,
    name,
    drift,
    paused: pausedCondition(config),
    generation,
    now,
  });
  // Of a spec that cannot be read nobody knows which NICs it has no more.
  const { entries } = spec;
  const statuses = entries ? interfaceStatuses({ entries, situation, previous: nics, now }) : nics;
  const ready = findCondition(conditions, 'Ready');
  return {
    state: stateOf(situation, ready, statuses),
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
 * The record, with the NICs of its node where an earlier version kept these in `interfaceStatuses` alone: these tell of the
 * wanted NICs while a change waits.
 */
function recordIn(config: NodeConfig, { kind }: RunPhase): Applied | undefined {
  const record = recordOf(config);
  const macs = kind === 'waiting' && !record?.macs ? deliveredMacs(config) : [];
  return record && macs.length > 0 ? { ...record, macs: [...macs] } : record;
}

/** A recorded end holds; where the status does not tell of it any more it is told again. */
function situationIn({ situation, config, applied, spec }: StatusInput): RunPhase {
  const record = applied ?? recordOf(config);
  return (situation.kind === 'recorded' && toldAgain(config.status, record, spec)) || situation;
}

function lastRun(situation: RunPhase, previous: NodeConfigStatus) {
  return {
    lastProcessed: endOf(situation) ?? previous.lastProcessed,
    lastJobName: jobOf(situation) ?? previous.lastJobName,
    knownInterfaces: knownTo(situation) ?? previous.knownInterfaces,
  };
}

/** Echo of the hash that came with the spec, else our own of it. */
function hashOf(config: NodeConfig): string | undefined {
  return config.spec?.specHash || ownSpecHash(config);
}

/** The one word for people, derived; programs read conditions. */
function stateOf(
  situation: RunPhase,
  ready: Condition | undefined,
  nics: readonly InterfaceStatus[],
): NonNullable<NodeConfigStatus['state']> {
  if (ready?.status === 'True') return 'Configured';
  if (ready?.status !== 'False') return situation.kind === 'working' ? 'InProgress' : 'Pending';
  return isPending(situation, ready, nics) ? 'Pending' : 'Failed';
}

/** Nothing is wrong, something is missing: the node, or NICs that are still to be plugged. */
function isPending(
  situation: RunPhase,
  { reason }: Condition,
  nics: readonly InterfaceStatus[],
): boolean {
  if (situation.kind === 'refused') return situation.reason === 'NodeNotFound';
  // Of an attempt that is repeated Ready still says how the last one ended.
  const isOfAgent =
    situation.kind === 'ended'
      ? situation.verdict.kind === 'result'
      : isRepeat(situation) && nicReason.safeParse(reason).success;
  return isOfAgent && nics.every(({ status }) => status !== 'Failed');
}

function endOf(situation: RunPhase): string | undefined {
  return situation.kind === 'ended' ? rfc3339(situation.at) : undefined;
}

/** What the host's own record calls ours, when an agent has just told it. */
function knownTo(situation: RunPhase): KnownInterface[] | undefined {
  const verdict = situation.kind === 'ended' ? situation.verdict : undefined;
  const known = verdict?.kind === 'result' ? verdict.result.known : undefined;
  return known?.map(({ index, mac, portId }) => ({
    id: index,
    macAddress: mac,
    ...(portId === undefined ? {} : { portId }),
  }));
}

/** The Job that the status speaks of; a repeated one is not named before it has ended. */
function jobOf(situation: RunPhase): string | undefined {
  if (situation.kind === 'ended') return situation.job;
  return situation.kind === 'working' && !isRepeat(situation) ? situation.run.name : undefined;
}

/**
 * The merge patch that makes the stored status this one, whatever form it had (the deployed controller's too: conditions
 * without times, keys of its own); undefined when it is this one already.
 */
export function statusPatch(config: NodeConfig, next: NodeConfigStatus): unknown {
  const dropped = config.statusKeys.filter((key) => !(key in next));
  const same = isSameJson(config.status, next);
  if (same && dropped.length === 0) return undefined;
  return {
    // Of the state that was looked at: whoever wrote meanwhile makes this a conflict.
    metadata: { resourceVersion: config.metadata.resourceVersion },
    status: {
      ...without(dropped),
      ...next,
      // A merge patch leaves what it does not name, and a record without its end is another one than with it.
      ...(next.applied ? { applied: { ...without(recordKeys), ...next.applied } } : {}),
    },
  };
}

const recordKeys = Object.keys(appliedRecord.shape);

function without(keys: readonly string[]): Record<string, null> {
  return Object.fromEntries(keys.map((key) => [key, null]));
}

/**
 * The end that the record knows, when the conditions have told of something else since: of another object for the same
 * node, of a node that was not found, of entries that are right by now. Undefined when they tell of that end, or when it
 * was none to rest on.
 */
function toldAgain(
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
  const isTold = usable.every((entry) => isConfigured(entry, nics));
  return isTold && isReadyTold(status, end, { entries }) ? undefined : end;
}

function nicsOf(entries: readonly Entry[]): JobResult['nics'] {
  return entries.flatMap(({ mac, index, rejection }) => {
    if (mac === undefined || index === undefined || rejection !== undefined) return [];
    return [{ index, mac, name: '', state: 'Configured', reason: 'Configured', message: '' }];
  });
}

/** Whether Ready says it already; the message of a success may have more to it: what the agent warned of. */
function isReadyTold(
  status: NodeConfigStatus | undefined,
  end: RunPhase,
  { entries = [] }: Pick<AcceptedSpec, 'entries'>,
): boolean {
  const told = findCondition(status?.conditions, 'Ready');
  const ready = readyIn(end, entries);
  if (told?.status !== ready.status || told.reason !== ready.reason) return false;
  return ready.status === 'True' || ready.message.startsWith(told.message ?? '');
}
