import { findCondition } from '../../api/condition.ts';
import { isWrittenByLegacy } from '../../api/legacy-status.ts';
import {
  adoption,
  changedSettings,
  changedSettingsIn,
  type Setting,
  sharedOf,
} from '../../api/shared-content.ts';
import type { RolloutPhase } from '../jobs/applied.ts';
import { isFoundReason } from '../jobs/evidence.ts';
import { hasFailed, isOnlyRefused } from '../jobs/failed-nics.ts';
import { isObserved, prohibitionOf } from '../jobs/permission.ts';
import type { SettingRun } from '../jobs/setting-runs.ts';
import type { NodeConfig } from '../objects/stores.ts';
import {
  changesIn,
  imageIn,
  isAtRest,
  isNewAdoption,
  isReported,
  type RecordFields,
  recordIn,
  type Source,
  sourceIn,
  sourceOf,
  wantedRevision,
  withoutChanges,
} from './revision.ts';
import type { Continued } from './rollout.ts';
import { settingRevision, settingRunsOf } from './setting-revision.ts';

/** Node states in the metric `multinic_rollout_nodes`. */
export const rolloutStates = ['waiting', 'running', 'done', 'failed', 'stopped'] as const;

export type RolloutState = (typeof rolloutStates)[number];

/** Rollout data for one object. */
export interface RolloutNode {
  /** Revisions of the wanted content: source and image, settings to change, changed settings. */
  readonly wanted: readonly string[];
  /** Wanted revisions without a run on the node. */
  readonly ahead: readonly RevisionAhead[];
  readonly source: string;
  /** Runs counted by the budget, per revision. */
  readonly runs: readonly CountedRun[];
  readonly continued: Continued | undefined;
  readonly states: readonly RolloutState[];
  /** Hash of the agent image that reported on the node. */
  readonly provenImage: string | undefined;
  /** Last run's outcome, false also for an earlier failure of an unchanged NIC; undefined: unknown, or no run. */
  readonly isDone: boolean | undefined;
  /** Last run's Kubernetes node. */
  readonly node: string | undefined;
  /** True if the last run is done, and a further run is expected. */
  readonly isCandidate: boolean;
}

/** A wanted revision without a run on the node. */
interface RevisionAhead {
  readonly revision: string;
  /** Start of the run with the setting's present value; undefined: unknown. Milliseconds since 1970. */
  readonly since: number | undefined;
  /** Revisions that each NIC with the setting needs in the same run. */
  readonly beside: readonly (readonly string[])[];
}

/** The last run with a revision. */
export interface CountedRun {
  readonly revision: string;
  /** `failed` also covers a run past its deadline whose Pod does not end. */
  readonly phase: RolloutPhase;
  readonly node: string;
  /** Job name. */
  readonly job: string;
  /** True if the run before had failed: a failure never stops the revision. */
  readonly failedBefore: boolean;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Returns an object's rollout data. An observed node takes no part, even after a counted or failed run. */
export function rolloutNodeOf(config: NodeConfig, image: string): RolloutNode {
  const node = nodeInRollout(config, image);
  if (!isObserved(config)) return node;
  return { ...node, ...apart, isDone: undefined };
}

const apart = { wanted: [], ahead: [], runs: [], states: [], isCandidate: false } as const;

function nodeInRollout(config: NodeConfig, image: string): RolloutNode {
  const status = config.status && !isWrittenByLegacy(config.status) ? config.status : undefined;
  const record = recordIn(config);
  const settings = record ? settingRunsOf(record, image) : [];
  const runs = record ? countedRuns(status, record, settings) : [];
  const source = sourceOf(config);
  return {
    ...apart,
    source: source.uid,
    runs,
    continued: continuedIn(status),
    states: statesOf(status, runs),
    provenImage: provenImageOf(status),
    isDone: isDoneIn(config, record),
    node: record?.nodeName,
    ...(config.metadata.deletionTimestamp === undefined
      ? wantedPart(config, { source, image, record, settings })
      : {}),
  };
}

interface Recorded {
  readonly source: Source;
  readonly image: string;
  readonly record: RecordFields | undefined;
  readonly settings: readonly SettingRun[];
}

function wantedPart(
  config: NodeConfig,
  { source, image, record, settings }: Recorded,
): Pick<RolloutNode, 'wanted' | 'ahead' | 'isCandidate'> {
  const { uid } = source;
  const base = wantedRevision(config, image, source);
  const shared = record && !isAtRest(config) ? changesOf(config, record) : [];
  const changes = [...shared, ...adoptionIn(config, record)];
  const stays = settings.filter(({ key }) => !changes.some(({ setting }) => setting.key === key));
  const all = [...changes.map(({ setting }) => setting), ...stays];
  return {
    wanted: [base, ...all.map((setting) => settingRevision(uid, setting))],
    ahead: [
      ...(isApplied(record, base) ? [] : [{ revision: base, since: undefined, beside: [] }]),
      ...aheadOf({ uid, base, record, settings, changes }),
    ],
    isCandidate: record !== undefined && isSound(config, record) && isExpected(config, record),
  };
}

/** A setting that differs from the record. */
interface Differing {
  readonly setting: Setting;
  /** Settings that each NIC with this setting changes beside. */
  readonly beside: readonly (readonly Setting[])[];
}

function changesOf({ spec }: NodeConfig, { action, shared }: RecordFields): readonly Differing[] {
  const entries = spec?.interfaces ?? [];
  const now = shared && action === 'apply' ? sharedOf(entries) : {};
  const changed = shared ? changedSettings(shared, now) : [];
  if (!shared || changed.length === 0) return [];
  const perNic = entries.map((entry) => changedSettingsIn(entry, shared, now));
  return changed.map((setting) => ({
    setting,
    beside: perNic
      .filter((list) => list.some((one) => isSame(one, setting)))
      .map((list) => list.filter((one) => !isSame(one, setting))),
  }));
}

/** Returns the consent to adoption if new. Without a configured NIC, no revision for source and image counts. */
function adoptionIn(config: NodeConfig, record: RecordFields | undefined): readonly Differing[] {
  if (!isNewAdoption(config)) return [];
  return [{ setting: adoption, beside: record && hasNics(record) ? [[]] : [] }];
}

interface AheadInput {
  readonly uid: string;
  readonly base: string;
  readonly record: RecordFields | undefined;
  readonly settings: readonly SettingRun[];
  readonly changes: readonly Differing[];
}

function aheadOf({ uid, base, record, settings, changes }: AheadInput): readonly RevisionAhead[] {
  const withBase = isApplied(record, base) ? [] : [base];
  return changes.flatMap(({ setting, beside }) => {
    const run = settings.find(({ key }) => key === setting.key);
    if (run?.value === setting.value) return [];
    return {
      revision: settingRevision(uid, setting),
      since: run && timeIn(run.at),
      beside: beside.map((list) => [
        ...withBase,
        ...list.map((other) => settingRevision(uid, other)),
      ]),
    };
  });
}

function isSame(a: Setting, b: Setting): boolean {
  return a.key === b.key && a.value === b.value;
}

function isApplied(record: RecordFields | undefined, base: string): boolean {
  return record?.revision !== undefined && withoutChanges(record.revision) === base;
}

/** A node waiting for its boot is done. Before an adoption, NICs refused for existing configuration are no failure. */
function isDoneIn(config: NodeConfig, record: RecordFields | undefined): boolean | undefined {
  if (!record || awaitsAdoption(config, record)) return undefined;
  if (hasFailed(record)) return false;
  return record.done === undefined ? undefined : true;
}

/** True if the last run only refused NICs, and the new consent permits their adoption. */
function awaitsAdoption(config: NodeConfig, record: RecordFields): boolean {
  return isNewAdoption(config) && isOnlyRefused(record);
}

/** True if the last run is done and configured NICs, or left its NICs for an adoption. */
function isSound(config: NodeConfig, record: RecordFields): boolean {
  if (record.action !== 'apply') return false;
  if (awaitsAdoption(config, record)) return true;
  if (isDoneIn(config, record) !== true) return false;
  return isNewAdoption(config) || hasNics(record);
}

/** A record from an earlier version does not list its NICs. */
function hasNics({ macs }: RecordFields): boolean {
  return macs === undefined || macs.length > 0;
}

/**
 * True if a run may come. A status without the current generation may still become a waiting change; a current status
 * must show a waiting change, or refused NICs before an adoption.
 */
function isExpected(config: NodeConfig, record: RecordFields): boolean {
  const { metadata, status } = config;
  if (prohibitionOf(config, 'apply')) return false;
  if (status?.observedGeneration !== metadata.generation) return true;
  const reason = findCondition(status?.conditions, 'Ready')?.reason ?? '';
  return reason === 'RolloutWaiting' || (awaitsAdoption(config, record) && isFoundReason(reason));
}

type Status = NodeConfig['status'];

/** Returns the runs of source and image, and of settings. */
function countedRuns(
  status: Status,
  { revision, rollout, nodeName = '', job = '', at, failedBefore = false }: RecordFields,
  settings: readonly SettingRun[],
): readonly CountedRun[] {
  if (revision === undefined) return [];
  const about = { node: nodeName, job };
  const phase = phaseIn(status, rollout);
  // With a hash of changed settings the phase is the settings'.
  const isOfBase = phase !== undefined && changesIn(revision) === '';
  const base = isOfBase ? [{ ...about, revision, phase, failedBefore, at: timeIn(at) }] : [];
  const source = sourceIn(revision);
  return [
    ...base,
    ...settings.map((run) => ({
      ...about,
      revision: settingRevision(source, run),
      phase: phaseIn(status, run.rollout) ?? run.rollout,
      failedBefore: run.failedBefore ?? false,
      at: timeIn(run.at),
    })),
  ];
}

function phaseIn(status: Status, rollout: string | undefined): RolloutPhase | undefined {
  const phase = phases.find((known) => known === rollout);
  return phase === 'started' && isOverdue(status) ? 'failed' : phase;
}

/** True if the run is past its deadline: on an unreachable node the Pod stays forever, and no result arrives. */
function isOverdue(status: Status): boolean {
  const ready = findCondition(status?.conditions, 'Ready');
  return ready?.status === 'False' && ready.reason === 'DeadlineExceeded';
}

const phases: readonly RolloutPhase[] = ['started', 'done', 'failed'];

/** An unreadable time was edited by hand and counts as the oldest possible time. */
function timeIn(text: string | undefined): number {
  return Date.parse(text ?? '') || 0;
}

function continuedIn(status: Status): Continued | undefined {
  const { value, at, until } = status?.rolloutContinued ?? {};
  if (value === undefined) return undefined;
  return { value, at: timeIn(at), ...(until === undefined ? {} : { until: timeIn(until) }) };
}

const stateOfPhase = { started: 'running', failed: 'failed', done: 'done' } as const;

function statesOf(status: Status, runs: readonly CountedRun[]): readonly RolloutState[] {
  const { conditions } = status ?? {};
  if (findCondition(conditions, 'RolloutStopped')?.status === 'True') return ['stopped'];
  if (findCondition(conditions, 'Ready')?.reason === 'RolloutWaiting') return ['waiting'];
  const phase = (['started', 'failed', 'done'] as const).find((known) =>
    runs.some((run) => run.phase === known),
  );
  return phase === undefined ? [] : [stateOfPhase[phase]];
}

function provenImageOf(status: Status): string | undefined {
  const { revision, done, reasons } = status?.applied ?? {};
  if (revision === undefined || !isReported({ done, reasons })) return undefined;
  return imageIn(revision);
}
