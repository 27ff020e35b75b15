import { findCondition } from '../../api/condition.ts';
import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { annotations } from '../../api/names.ts';
import type { OpenstackConfig } from '../../api/openstackconfig.ts';
import { pauseOf } from '../../api/pause.ts';
import { allowedIn, budgetWindowMs } from '../../api/removals.ts';
import { keyOf } from '../../explain/commands.ts';
import type { SystemFacts } from '../../explain/facts.ts';
import { lastSyncOf } from '../../explain/last-sync.ts';
import { unreadCloud } from '../../explain/missing-texts.ts';
import { isSyncedBy, providerOfConfig } from '../../explain/subject.ts';
import { ofMessage } from '../../explain/wording.ts';
import { shownConditions } from './shown-conditions.ts';

type ConfigRow = ScreenAnswer<'configs'>['configs'][number];
type CloudRow = ScreenAnswer<'configs'>['clouds'][number];

/** Facts beside an OpenstackConfig. */
export interface ConfigContext {
  readonly clusters: SystemFacts['clusters'];
  /** Trigger mode of the operator; undefined: unknown. */
  readonly trigger: string | undefined;
  readonly now: Date;
}

/** Returns an OpenstackConfig as a row. */
export function shownConfig(config: OpenstackConfig, context: ConfigContext): ConfigRow {
  const { metadata, status } = config;
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    cloud: cloudKey(config),
    providerId: providerOfConfig(config) ?? status?.deliveredTo?.[0],
    ...stateOf(config),
    ...choicesOf(config),
    trigger: context.trigger,
    ...countsOf(config),
    lastSyncAt: lastSyncOf(config, context.clusters),
    lastAttemptAt: status?.lastAttempt?.at,
    nextSyncAt: status?.lastAttempt?.nextAt,
    removals: removalsOf(config, context.now),
  };
}

function stateOf(config: OpenstackConfig) {
  const { status: ready = 'Unknown' as const, reason = '', message } = readyOf(config) ?? {};
  const { metadata, status } = config;
  return {
    ready,
    reason,
    text: ofMessage(reason, message),
    conditions: shownConditions(status?.conditions ?? [], metadata.generation),
    isDeleting: metadata.deletionTimestamp !== undefined,
  };
}

/** Returns the user's choices. */
function choicesOf(config: OpenstackConfig) {
  const { metadata, spec } = config;
  const { mode = 'Apply' as const, deletionPolicy = 'Ask' as const } = spec.settings ?? {};
  const value = metadata.annotations?.[annotations.paused];
  return { mode, deletionPolicy, paused: pauseOf(config).isPaused ? value : undefined };
}

function countsOf({ status }: OpenstackConfig) {
  const { servers, nodes, nics, filteredPorts: unusedPorts } = status?.summary ?? {};
  return { servers, nodes, nics, unusedPorts };
}

function readyOf({ status }: OpenstackConfig) {
  return findCondition(status?.conditions, 'Ready');
}

/** Counts the removals of the last hour, against the budget of this OpenstackConfig alone. */
function removalsOf({ status }: OpenstackConfig, now: Date): ConfigRow['removals'] {
  const { removals = [], summary, heldRemovals, openAllowRemovals } = status ?? {};
  const recent = removals.filter(({ at }) => now.getTime() - Date.parse(at ?? '') < budgetWindowMs);
  const lastHour = recent.reduce((sum, { nics = 0 }) => sum + nics, 0);
  const { interfaces } = summary ?? {};
  const total = interfaces === undefined ? undefined : interfaces + lastHour;
  return {
    lastHour,
    allowed: total === undefined ? undefined : allowedIn({ scope: 'configNics', total }),
    waiting: heldRemovals?.digests !== undefined && heldRemovals.digests !== '',
    waitingSince: heldRemovals?.at,
    consentUntil: openAllowRemovals?.until,
  };
}

/** Returns the clouds of OpenstackConfigs, in the order of their first OpenstackConfig. */
export function shownClouds(configs: readonly OpenstackConfig[]): CloudRow[] {
  return [...Map.groupBy(configs, cloudKey)].map(([key, own]) => shownCloud(key, own));
}

function shownCloud(key: string, configs: readonly OpenstackConfig[]): CloudRow {
  const [access, name, project] = JSON.parse(key) as CloudKey;
  return {
    key,
    access,
    name,
    project: project === '' ? undefined : project,
    ...cloudState(configs),
    configs: configs.map(keyOf),
  };
}

function cloudState(
  configs: readonly OpenstackConfig[],
): Pick<CloudRow, 'state' | 'reason' | 'text'> {
  const [failing] = configs.filter(isFailing).map(readyOf);
  if (failing) {
    const { reason = '', message } = failing;
    return { state: 'failing', reason, text: ofMessage(reason, message) };
  }
  const isAnswering = configs.some((config) => isSyncedBy(readyOf(config)));
  return { state: isAnswering ? 'ok' : 'unknown' };
}

/** True if a service of the cloud had no answer at the last sync. */
function isFailing(config: OpenstackConfig): boolean {
  const ready = readyOf(config);
  return ready?.status === 'False' && unreadCloud(keyOf(config), ready).length > 0;
}

type CloudKey = readonly [access: CloudRow['access'], name: string, project: string];

function cloudKey(config: OpenstackConfig): string {
  return JSON.stringify(cloudOf(config));
}

function cloudOf({ metadata, spec: { credentials } }: OpenstackConfig): CloudKey {
  const { openstackProviderID, authURL, secretRef, projectID = '' } = credentials;
  if (secretRef) return ['secret', `${metadata.namespace ?? ''}/${secretRef.name}`, projectID];
  if (authURL) return ['direct', authURL, projectID];
  return ['contrabass', openstackProviderID ?? '', projectID];
}
