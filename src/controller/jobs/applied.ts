import * as z from 'zod';
import { rfc3339 } from '../../api/condition.ts';
import { existingConfiguration } from '../../api/found-configuration.ts';
import {
  adoptionProtocol,
  type Family,
  type Fence,
  family,
  fence,
  isInPlace,
  jobRequest,
  type Protocol,
  protocol,
  protocols,
} from '../../api/job.ts';
import { isWrittenByLegacy } from '../../api/legacy-status.ts';
import type { NodeConfigStatus } from '../../api/multinicnodeconfig.ts';
import { type Reason, reasons } from '../../api/reasons.ts';
import type { SharedContent } from '../../api/shared-content.ts';
import { isOtherMachine, type Machine } from '../objects/machine.ts';
import type { NodeConfig } from '../objects/stores.ts';
import { isNicFailing, isOpen } from './evidence.ts';
import { failedIn, hashesAfter } from './failed-nics.ts';
import { guessFamily, isNews, otherFamilyIn } from './family.ts';
import { jobName } from './job.ts';
import { endedFields, removalFields, type StartedRemovals, startedFields } from './run-basis.ts';
import type { AgentTask, NodeEvents, RunOutcome } from './runner.ts';
import { type SettingRun, settingAtEnd, settingRun } from './setting-runs.ts';

// Tolerates records from a later version: after a downgrade, completed work stays completed, otherwise the downgrade
// would start an agent on every node. An unknown protocol becomes the newest known protocol; an unknown reason is
// dropped and sets no delay.
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

/**
 * One attempt every five minutes for nine years. A higher number was edited by hand, and adding 1 could exceed a safe
 * integer.
 */
const mostAttempts = 1_000_000;

const texts = z.record(z.string(), z.string()).optional().catch(undefined);

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
  healAsked: z.string().optional(),
  checkedAt: z.iso.datetime({ offset: true }).optional(),
  checkedContent: z.string().optional(),
  job: z.string().min(1),
  attempt: z.int().min(0).max(mostAttempts),
  worked: z.int().optional().catch(undefined),
  protocol: spoken,
  version: z.string().optional(),
  at: z.iso.datetime({ offset: true }),
  done: z.boolean().optional(),
  undone: z.boolean().optional(),
  macs: z.array(z.string()).optional(),
  ...removalFields,
  allowedRemovals: z.string().optional(),
  revision: z.string().optional(),
  rollout: z.enum(['started', 'done', 'failed']).optional().catch(undefined),
  failedBefore: z.boolean().optional().catch(undefined),
  shared: texts,
  nics: texts,
  settings: z.array(settingRun).optional().catch(undefined),
  existingConfiguration: existingConfiguration.optional().catch(undefined),
  reasons: reasonsLeft.optional(),
  family: knownFamily,
  foundFamily: knownFamily,
  triedFamilies: knownFamilies.optional(),
  hostFence: fence.optional(),
});

/**
 * The last run of an agent, stored in `status.applied`. Written without `done` before the agent can start, and again
 * after its end: the record is never older than the node's last possible change. Times are from this controller's
 * clock.
 */
export type Applied = Readonly<z.infer<typeof recordSchema>>;

/** Records by status object: a reconcile reads the record of its object about ten times. */
const records = new WeakMap<NodeConfigStatus, Applied | undefined>();

/** Phase of a run counted by the rollout budget; a port attached later leaves `done` unchanged. */
export type RolloutPhase = NonNullable<Applied['rollout']>;

/**
 * Returns the record in a status. Undefined for an unknown format, and for a status last written by another controller,
 * whose changes on the node are unknown.
 */
export function appliedIn(status: NodeConfigStatus | undefined): Applied | undefined {
  if (!status) return undefined;
  if (records.has(status)) return records.get(status);
  const record = isWrittenByLegacy(status)
    ? undefined
    : recordSchema.safeParse(status.applied).data;
  records.set(status, record);
  return record;
}

/** Returns the object's record if from an apply or a clean-up; checks alone change no node. */
export function recordOf(config: NodeConfig): Applied | undefined {
  const record = lastRecordOf(config);
  return record?.action === 'check' ? undefined : record;
}

/**
 * Returns the record, also from checks alone, if its uid is the object's. An object restored from a backup has a new
 * uid, and the old record says nothing about its node. Records from earlier versions have no uid, but their Job name is a
 * hash over the uid. An upgrade therefore starts no agents, and a restored record does not count.
 */
export function lastRecordOf({ metadata, status }: NodeConfig): Applied | undefined {
  const applied = appliedIn(status);
  if (!applied) return undefined;
  const { uid = '' } = metadata;
  const isOwn =
    applied.objectUid === undefined
      ? applied.job === jobName({ ...applied, uid, node: applied.nodeName })
      : applied.objectUid === uid;
  return isOwn ? applied : undefined;
}

/**
 * Returns MACs configured on the node by runs for this object. Earlier versions stored NICs only in
 * `interfaceStatuses`.
 */
export function deliveredMacs(config: NodeConfig): readonly string[] {
  const applied = recordOf(config);
  if (!applied || applied.undone) return [];
  if (applied.macs) return applied.macs;
  return (config.status?.interfaceStatuses ?? []).flatMap(({ status, macAddress }) =>
    status === 'Configured' && macAddress !== undefined ? [macAddress.toLowerCase()] : [],
  );
}

/** Parameters for an agent request. */
export interface Terms extends StartedRemovals {
  readonly protocol: Protocol;
  /** Version of this controller; undefined: another build may have started the agent. */
  readonly version?: string | undefined;
  /** Fence observed on the host, which the request supersedes. */
  readonly hostFence?: Fence | undefined;
  /** Last successful attempt for this content. */
  readonly worked?: number | undefined;
  /** Network managers already tried without success. */
  readonly triedFamilies?: readonly Family[] | undefined;
  /** MACs of NICs delivered to the node for the object. */
  readonly macs?: readonly string[] | undefined;
  /** Value of `allow-removals` consumed by this run. */
  readonly allowedRemovals?: string | undefined;
  readonly revision?: string | undefined;
  /** Rollout phase; undefined: the rollout budget does not count the run. */
  readonly rollout?: RolloutPhase | undefined;
  /** True if the run before the counted run had failed. */
  readonly failedBefore?: boolean | undefined;
  /** Settings per subnet after the run; undefined: unknown. */
  readonly shared?: SharedContent | undefined;
  /** Consent to adoption in the request; undefined: none. */
  readonly existingConfiguration?: 'Adopt' | undefined;
  /** Content hash per NIC, by MAC, marked for failed NICs; undefined: unknown. */
  readonly nics?: Readonly<Record<string, string>> | undefined;
  /** Changed settings with their rollout phases. */
  readonly settings?: readonly SettingRun[] | undefined;
}

/** Returns the record for a run about to start. */
export function begun(task: AgentTask, job: string, terms: Terms, now: Date): Applied {
  const { action, content, attempt, machine, occasion = machine, family: sent } = task;
  const { triedFamilies = [] } = terms;
  const { nodeName, nodeUid, machineId } = machine;
  return {
    objectUid: task.uid,
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
    ...(terms.version === undefined ? {} : { version: terms.version }),
    family: sent,
    ...(triedFamilies.length > 0 ? { triedFamilies: [...triedFamilies] } : {}),
    ...(terms.hostFence ? { hostFence: terms.hostFence } : {}),
    macs: [...(terms.macs ?? [])],
    ...contentIn(terms),
    ...(terms.allowedRemovals === undefined ? {} : { allowedRemovals: terms.allowedRemovals }),
    ...startedFields({ action, content, generation: task.generation, nodeName }, terms, now),
    ...rolloutIn(terms),
    at: rfc3339(now),
  };
}

function contentIn({ shared, nics, settings = [], existingConfiguration: consent }: Terms) {
  return {
    ...settingsField(settings),
    ...(consent === undefined ? {} : { existingConfiguration: consent }),
    ...(shared === undefined ? {} : { shared: { ...shared } }),
    ...(nics === undefined ? {} : { nics: { ...nics } }),
  };
}

function settingsField(settings: readonly SettingRun[]): Pick<Applied, 'settings'> {
  return settings.length > 0 ? { settings: [...settings] } : {};
}

function rolloutIn({ revision, rollout, failedBefore }: Terms) {
  return {
    ...(revision === undefined ? {} : { revision }),
    ...(rollout === undefined ? {} : { rollout }),
    ...(rollout !== undefined && failedBefore ? { failedBefore } : {}),
  };
}

/** Returns record fields that identify the node's state at check time. */
export function recordedEvents({ bootId, readySince, checkAsked, healAsked }: NodeEvents) {
  return {
    ...(bootId ? { bootId } : {}),
    ...(readySince ? { readySince } : {}),
    ...(checkAsked === undefined ? {} : { checkAsked }),
    ...(healAsked === undefined ? {} : { healAsked }),
  };
}

/** Returns the record for a finished run. `keep`: MACs left unchanged, absent from the agent's result. */
export function ended(
  applied: Applied,
  verdict: RunOutcome,
  now: Date,
  keep: readonly string[] = [],
): Applied {
  const { done, reasons: left } = completionOf(verdict);
  const hostFence = verdict.kind === 'failure' ? verdict.fence : undefined;
  const foundFamily = otherFamilyIn(verdict, applied.family);
  const {
    settings: _,
    rollout: __,
    hostFence: ___,
    existingConfiguration: consent,
    ...before
  } = applied;
  const nics = nicsAfter(applied, verdict);
  const settings = settingsAfter({ ...applied, nics }, verdict);
  const rollout = rolloutAfter({ ...applied, nics, settings }, verdict);
  return {
    ...before,
    at: rfc3339(now),
    done,
    macs: macsAfter(applied, verdict, keep),
    ...(consent && knowsConsent(verdict) ? { existingConfiguration: consent } : {}),
    ...(nics ? { nics } : {}),
    ...endedFields(applied, verdict, done),
    ...(rollout ? { rollout } : {}),
    ...settingsField(settings),
    ...(left.length > 0 ? { reasons: [...new Set(left)].slice(0, 20) } : {}),
    ...(hostFence ? { hostFence } : {}),
    ...(foundFamily ? { foundFamily } : {}),
  };
}

/** False: the agent is too old for consent to adoption, and adopted nothing. */
function knowsConsent(verdict: RunOutcome): boolean {
  return verdict.kind === 'failure' || verdict.result.protocol >= adoptionProtocol;
}

/** Returns the MACs configured by runs for this object and still on the node; a failed NIC was rolled back. */
function macsAfter({ macs = [] }: Applied, verdict: RunOutcome, keep: readonly string[]): string[] {
  if (verdict.kind === 'failure') return macs;
  const { nics, outcome } = verdict.result;
  const states = new Map(nics.map(({ mac, state }) => [mac.toLowerCase(), state]));
  const stay = macs.filter((mac) => {
    const state = states.get(mac);
    return state === undefined ? outcome !== 'ok' || keep.includes(mac) : state !== 'Removed';
  });
  const configured = nics.filter(isInPlace).map(({ mac }) => mac.toLowerCase());
  return [...new Set([...stay, ...configured])].toSorted().slice(0, 20);
}

/**
 * Returns the rollout phase of source and image after a run; undefined: the run does not count. A run that only
 * detected another network manager changed nothing: the next run decides.
 */
function rolloutAfter(applied: Applied, verdict: RunOutcome): RolloutPhase | undefined {
  const { rollout, macs = [], nics } = applied;
  if (rollout === undefined || rollout === 'done') return rollout;
  if (isNews(otherFamilyIn(verdict, applied.family), applied)) return rollout;
  const isStillFailed = rollout === 'failed' && failedIn(nics).some((mac) => macs.includes(mac));
  return isStillFailed ? 'failed' : phaseOfRun(applied, verdict);
}

function phaseOfRun(
  { macs = [], settings = [] }: Applied,
  verdict: RunOutcome,
): RolloutPhase | undefined {
  const failed = settings.flatMap((run) => (run.rollout === 'failed' ? (run.macs ?? []) : []));
  const others = macs.filter((mac) => !failed.includes(mac));
  // A NIC that fails with a changed setting stops the setting alone.
  if (harms(verdict.kind === 'failure' ? macs : others, verdict)) return 'failed';
  return failed.length === 0 || hasResultFor(others, verdict) ? 'done' : undefined;
}

function hasResultFor(macs: readonly string[], verdict: RunOutcome): boolean {
  if (verdict.kind === 'failure') return false;
  return verdict.result.nics.some(({ mac }) => macs.includes(mac.toLowerCase()));
}

function settingsAfter(applied: Applied, verdict: RunOutcome): SettingRun[] {
  const { settings = [] } = applied;
  if (isNews(otherFamilyIn(verdict, applied.family), applied)) return settings;
  return settings.flatMap((setting) => settingAtEnd(setting, verdict, applied) ?? []);
}

function nicsAfter({ nics }: Applied, verdict: RunOutcome): Applied['nics'] {
  return nics && verdict.kind === 'result' ? hashesAfter(nics, verdict.result) : nics;
}

/** True if a run failed for a NIC that was configured before. */
function harms(macs: readonly string[], verdict: RunOutcome): boolean {
  if (verdict.kind === 'failure') return macs.length > 0;
  const { nics, outcome } = verdict.result;
  if (!nics.some(isOpen)) return outcome !== 'ok' && macs.length > 0;
  return nics.some((nic) => isNicFailing(nic) && macs.includes(nic.mac.toLowerCase()));
}

interface Completion {
  readonly done: boolean;
  /** Reasons for an incomplete run; each reason determines a retry delay. */
  readonly reasons: readonly Reason[];
}

/** Returns whether a run reached the desired state. */
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

/**
 * Returns the network manager for the next agent: the last run's finding on this machine, otherwise a guess from the OS
 * image.
 */
export function familyFor(machine: Machine, last: Applied | undefined): Family {
  const known = last && !isOtherMachine(machineIn(last), machine) ? last : undefined;
  return known?.foundFamily ?? known?.family ?? guessFamily(machine);
}

/** Returns network managers tried before without success, in order. */
export function triedBefore(machine: Machine, last: Applied | undefined): readonly Family[] {
  if (!last?.foundFamily || isOtherMachine(machineIn(last), machine)) return [];
  const { triedFamilies = [], family: sent } = last;
  return [...new Set([...triedFamilies, ...(sent ? [sent] : [])])];
}
