import * as z from 'zod';
import { rfc3339 } from '../../api/condition.ts';
import {
  type Family,
  type Fence,
  family,
  fence,
  jobRequest,
  type Protocol,
  protocol,
  protocols,
} from '../../api/job.ts';
import type { NodeConfigStatus } from '../../api/multinicnodeconfig.ts';
import { type Reason, reasons } from '../../api/reasons.ts';
import type { Clock } from '../../time/clock.ts';
import { isOtherMachine, type Machine } from '../objects/machine.ts';
import { isWrittenByOther, type NodeConfig } from '../objects/stores.ts';
import { isOpen } from './evidence.ts';
import { guessFamily, isNews, otherFamilyIn } from './family.ts';
import { jobName } from './job.ts';
import type { AgentTask, NodeEvents, RunOutcome } from './runner.ts';

// A later version writes records, too, and may be taken back: what it did is done all the same, or going back would send an
// agent to every node. Of a protocol that is not known here another is spoken; a reason that is not known sets no pace.
const spoken = z
  .int()
  .positive()
  .transform((version): Protocol => protocols.find((known) => known === version) ?? protocol);
const reasonsLeft = z
  .array(z.string())
  .transform((words) => words.filter((word): word is Reason => Object.hasOwn(reasons, word)));

const knownFamily = family.optional().catch(undefined);
const knownFamilies = z
  .array(z.string())
  .transform((words) => words.flatMap((word) => knownFamily.parse(word) ?? []));

/** One every five minutes for nine years: a record of more was edited by hand, and one more could be no number at all. */
const mostAttempts = 1_000_000;

const recordSchema = z.object({
  objectUid: z.string().optional(),
  action: jobRequest.shape.action,
  content: z.string(),
  nodeName: z.string().min(1),
  nodeUid: z.string(),
  machineId: z.string().optional(),
  bootId: z.string().optional(),
  readySince: z.string().optional(),
  checkAsked: z.string().optional(),
  checkedAt: z.iso.datetime({ offset: true }).optional(),
  job: z.string().min(1),
  attempt: z.int().min(0).max(mostAttempts),
  worked: z.int().optional().catch(undefined),
  protocol: spoken,
  at: z.iso.datetime({ offset: true }),
  done: z.boolean().optional(),
  undone: z.boolean().optional(),
  macs: z.array(z.string()).optional(),
  allowedRemovals: z.string().optional(),
  revision: z.string().optional(),
  rollout: z.enum(['started', 'done', 'failed']).optional().catch(undefined),
  reasons: reasonsLeft.optional(),
  family: knownFamily,
  foundFamily: knownFamily,
  triedFamilies: knownFamilies.optional(),
  hostFence: fence.optional(),
});

/**
 * What was done last, and for what. It is written before an agent can begin, without `done`, and again when its end was
 * seen: so what stands here is never older than what may have happened on the node. Times are this controller's.
 */
export type Applied = z.infer<typeof recordSchema>;

/** Phase of a run that the rollout budget counts; a port that is attached later leaves `done` unchanged. */
export type RolloutPhase = NonNullable<Applied['rollout']>;

/**
 * The record in a status. One of a form that is not known counts as none, and so does one in a status that another
 * controller has written since: what it did on the node nobody told us.
 */
export function appliedIn(status: NodeConfigStatus | undefined): Applied | undefined {
  if (!status || isWrittenByOther(status)) return undefined;
  return recordSchema.safeParse(status.applied).data;
}

/**
 * The record of an object, if it is about this very object: one that was restored from a backup with its status has another
 * uid, and what was done for the one before says nothing of its node now. A record of an earlier version names no uid, but the
 * name of its Job is a hash of it: so an upgrade sends no agent, and a restored record does not count either.
 */
export function recordOf({ metadata, status }: NodeConfig): Applied | undefined {
  const applied = appliedIn(status);
  if (!applied) return undefined;
  const { uid = '' } = metadata;
  const isOwn =
    applied.objectUid === undefined
      ? applied.job === jobName({ ...applied, uid, node: applied.nodeName })
      : applied.objectUid === uid;
  return isOwn ? applied : undefined;
}

/** MACs of the NICs that a node has of this object; an earlier version kept them in `interfaceStatuses` alone. */
export function deliveredMacs(config: NodeConfig): readonly string[] {
  const applied = recordOf(config);
  if (!applied || applied.undone) return [];
  if (applied.macs) return applied.macs;
  return (config.status?.interfaceStatuses ?? []).flatMap(({ status, macAddress }) =>
    status === 'Configured' && macAddress !== undefined ? [macAddress.toLowerCase()] : [],
  );
}

/** How an agent is asked. */
export interface Terms {
  readonly protocol: Protocol;
  /** What the host has seen and the request takes precedence over. */
  readonly hostFence?: Fence | undefined;
  /** The last attempt of this content that worked. */
  readonly worked?: number | undefined;
  /** For which families agents were sent in vain just before. */
  readonly triedFamilies?: readonly Family[] | undefined;
  /** MACs of the NICs that the node has of the object. */
  readonly macs?: readonly string[] | undefined;
  /** The leave to remove NICs that this run uses up. */
  readonly allowedRemovals?: string | undefined;
  readonly revision?: string | undefined;
  /** Phase of the run in its rollout; undefined: the rollout budget does not count the run. */
  readonly rollout?: RolloutPhase | undefined;
}

/** The record of a run that is about to begin. */
export function begun(order: AgentTask, job: string, terms: Terms, now: Date): Applied {
  const { action, content, attempt, machine, occasion = machine, family: sent } = order;
  const { triedFamilies = [] } = terms;
  const { nodeName, nodeUid, machineId } = machine;
  return {
    objectUid: order.uid,
    action,
    content,
    nodeName,
    nodeUid,
    ...(machineId ? { machineId } : {}),
    ...recordedEvents(occasion),
    job,
    attempt,
    ...(terms.worked === undefined ? {} : { worked: terms.worked }),
    protocol: terms.protocol,
    family: sent,
    ...(triedFamilies.length > 0 ? { triedFamilies: [...triedFamilies] } : {}),
    ...(terms.hostFence ? { hostFence: terms.hostFence } : {}),
    macs: [...(terms.macs ?? [])],
    ...(terms.allowedRemovals === undefined ? {} : { allowedRemovals: terms.allowedRemovals }),
    ...rolloutIn(terms),
    at: rfc3339(now),
  };
}

function rolloutIn({ revision, rollout }: Terms) {
  return {
    ...(revision === undefined ? {} : { revision }),
    ...(rollout === undefined ? {} : { rollout }),
  };
}

/** What a record says of the moment at which its node was looked at. */
export function recordedEvents({ bootId, readySince, checkAsked }: NodeEvents) {
  return {
    ...(bootId ? { bootId } : {}),
    ...(readySince ? { readySince } : {}),
    ...(checkAsked === undefined ? {} : { checkAsked }),
  };
}

/** The record of a run whose end was seen now; NICs of `keep` were to stay, and no agent says anything of them. */
export function ended(
  applied: Applied,
  verdict: RunOutcome,
  now: Date,
  keep: readonly string[] = [],
): Applied {
  const { done, reasons: left } = completionOf(verdict);
  const hostFence = verdict.kind === 'failure' ? verdict.fence : undefined;
  const foundFamily = otherFamilyIn(verdict, applied.family);
  const { hostFence: _, ...before } = applied;
  const rollout = rolloutAfter(applied, verdict);
  return {
    ...before,
    at: rfc3339(now),
    done,
    macs: macsAfter(applied, verdict, keep),
    ...(rollout ? { rollout } : {}),
    ...(left.length > 0 ? { reasons: [...new Set(left)].slice(0, 20) } : {}),
    ...(hostFence ? { hostFence } : {}),
    ...(foundFamily ? { foundFamily } : {}),
  };
}

/** A NIC that failed was brought back to what it was. */
function macsAfter({ macs = [] }: Applied, verdict: RunOutcome, keep: readonly string[]): string[] {
  if (verdict.kind === 'failure') return macs;
  const { nics, outcome } = verdict.result;
  const states = new Map(nics.map(({ mac, state }) => [mac.toLowerCase(), state]));
  const stay = macs.filter((mac) => {
    const state = states.get(mac);
    return state === undefined ? outcome !== 'ok' || keep.includes(mac) : state !== 'Removed';
  });
  const configured = [...states.keys()].filter((mac) => states.get(mac) === 'Configured');
  return [...new Set([...stay, ...configured])].toSorted().slice(0, 20);
}

/** A run that only found the host to be of another family changed nothing: the next one decides. */
function rolloutAfter(applied: Applied, verdict: RunOutcome): RolloutPhase | undefined {
  const { rollout, macs = [] } = applied;
  if (rollout === undefined || rollout === 'done') return rollout;
  if (isNews(otherFamilyIn(verdict, applied.family), applied)) return rollout;
  return harms(macs, verdict) ? 'failed' : 'done';
}

/** Whether a run failed for one of these NICs, which were configured before it. */
function harms(macs: readonly string[], verdict: RunOutcome): boolean {
  if (verdict.kind === 'failure') return macs.length > 0;
  const { nics, outcome } = verdict.result;
  const open = nics.filter(isOpen);
  if (open.length === 0) return outcome !== 'ok' && macs.length > 0;
  return open.some(({ mac }) => macs.includes(mac.toLowerCase()));
}

interface Completion {
  readonly done: boolean;
  /** Why it is not done: each reason sets a pace for the next attempt. */
  readonly reasons: readonly Reason[];
}

/** Whether a run brought the node to what was asked for, as the record says it. */
export function completionOf(verdict: RunOutcome): Completion {
  if (verdict.kind === 'failure') return { done: false, reasons: [verdict.reason] };
  const { outcome, nics } = verdict.result;
  const open: Reason[] = nics.filter(isOpen).map(({ reason }) => reason);
  if (open.length > 0) return { done: false, reasons: open };
  return outcome === 'ok' ? { done: true, reasons: [] } : { done: false, reasons: ['JobFailed'] };
}

export function completionIn({ done = false, reasons: left = [] }: Applied): Completion {
  return { done, reasons: left };
}

export function machineIn({ nodeName, nodeUid, machineId, bootId }: Applied): Machine {
  return { nodeName, nodeUid, machineId, bootId };
}

/** For which family the next agent on this machine is sent: the one that the last one found there, else a guess. */
export function familyFor(machine: Machine, last: Applied | undefined): Family {
  const known = last && !isOtherMachine(machineIn(last), machine) ? last : undefined;
  return known?.foundFamily ?? known?.family ?? guessFamily(machine);
}

/** Families for which agents were sent in vain, one after the other, before the one that is sent now. */
export function triedBefore(machine: Machine, last: Applied | undefined): readonly Family[] {
  if (!last?.foundFamily || isOtherMachine(machineIn(last), machine)) return [];
  const { triedFamilies = [], family: sent } = last;
  return [...new Set([...triedFamilies, ...(sent ? [sent] : [])])];
}

type Dated = Pick<Applied, 'job' | 'at'>;

/**
 * How long records have stood. The wall clock is asked once, when a record is first seen; from then on its age grows with the
 * time that passes here: a clock that is set back by hours would else hold up retries for as long, and one that is set
 * ahead would end every wait at once.
 */
export class RecordAges {
  readonly #clock: Clock;
  readonly #known = new Map<string, { readonly record: string; readonly since: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds since the time in the record of this object; never negative, as another controller's clock may be ahead. */
  of(key: string, { job, at }: Dated): number {
    const now = this.#clock.monotonicMs();
    const record = `${job} ${at}`;
    const known = this.#known.get(key);
    if (known?.record === record) return now - known.since;
    const age = Math.max(0, this.#clock.now().getTime() - Date.parse(at));
    this.#known.set(key, { record, since: now - age });
    return age;
  }

  /** The object is gone. */
  forget(key: string): void {
    this.#known.delete(key);
  }
}
