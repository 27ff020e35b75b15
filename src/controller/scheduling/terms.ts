import { rfc3339 } from '../../api/condition.ts';
import { protocol as newestProtocol, type Protocol, protocols } from '../../api/job.ts';
import { knownNics } from '../../api/known-nics.ts';
import type { Reason } from '../../api/reasons.ts';
import {
  adoption,
  labelOf,
  type SharedContent,
  settingsOf,
  sharedAfter,
  sharedOf,
} from '../../api/shared-content.ts';
import type { Clock } from '../../time/clock.ts';
import {
  type Applied,
  deliveredMacs,
  machineIn,
  type RolloutPhase,
  type Terms,
  triedBefore,
} from '../jobs/applied.ts';
import {
  failedIn,
  hasFailed,
  hashesAtStart,
  isOnlyRefused,
  type NicHashes,
} from '../jobs/failed-nics.ts';
import { type Contents, consentIn, nicHash, nothing } from '../jobs/request.ts';
import { type AllowedRemoval } from '../jobs/run-basis.ts';
import type { AgentTask } from '../jobs/runner.ts';
import { type SettingRun, settingAtStart } from '../jobs/setting-runs.ts';
import { isReplaced } from '../objects/machine.ts';
import { allowRemovalsOf, type NodeConfig } from '../objects/stores.ts';
import { lostNics } from '../removals/losses.ts';
import type { PartialChange } from './held-change.ts';
import type { IsCurrent } from './is-current.ts';
import type { NodeChange } from './node-change.ts';
import { imageIn, isNewAdoption } from './revision.ts';
import type { Rollout } from './rollout-budget.ts';
import { settingRunsOf } from './setting-revision.ts';

/** Reasons returned by an agent that cannot read the request, possibly due to an older protocol version. */
export const unreadable: ReadonlySet<Reason> = new Set(['ProtocolMismatch', 'InvalidRequest']);

interface TermsInput {
  readonly config: NodeConfig;
  readonly contents: Contents;
  /** Part applied during a rollout. */
  readonly held: PartialChange | undefined;
  readonly agentTask: AgentTask;
  readonly before: Applied | undefined;
  /** Removals allowed for the run. */
  readonly removals: readonly AllowedRemoval[];
  /** What the rollout budget counts in the run. */
  readonly change: NodeChange;
}

interface TermsOptions {
  readonly isCurrent: IsCurrent;
  readonly rollout: Pick<Rollout, 'revisionOf' | 'withoutExcused'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Version of this controller. */
  readonly version: string;
}

/** Returns protocol, fence and record fields for the next request, based on the last outcome. */
export type TermsOf = (input: TermsInput, signal: AbortSignal) => Promise<Terms>;

export function createTermsOf({ isCurrent, rollout, version, clock }: TermsOptions): TermsOf {
  return async (input, signal) => {
    const { config, agentTask, before, removals } = input;
    const here = recordHere(input);
    const inherited = {
      version,
      triedFamilies: triedBefore(agentTask.machine, before),
      macs: here ? deliveredMacs(config) : [],
      allowedRemovals: allowRemovalsOf(config),
      last: withSource(here, config),
      before,
      requested: input.contents.interfaces.map(({ mac }) => mac),
      removals,
      ...rolloutTerms(input, here && rollout.withoutExcused(here), {
        revision: rollout.revisionOf(config),
        now: clock.now(),
      }),
      ...(agentTask.action === 'apply' ? consentIn(input.contents) : {}),
    };
    if (before?.content !== agentTask.content) return { protocol: newestProtocol, ...inherited };
    const { hostFence } = before;
    const worked = before.done ? before.attempt : before.worked;
    const protocol = protocolAfter(before, version, removesNothing(input));
    // Only an object confirmed by the API server may supersede the host's fence.
    const superseding = hostFence !== undefined && (await isCurrent(config, signal));
    const fence = superseding ? { hostFence } : {};
    return { protocol, worked, ...inherited, ...fence };
  };
}

/** Returns the record fields about the rollout; `here`: the record of the node, undefined: none. */
function rolloutTerms(
  input: TermsInput,
  here: Applied | undefined,
  { revision, now }: { readonly revision: string; readonly now: Date },
): Pick<Terms, 'revision' | 'rollout' | 'failedBefore' | 'shared' | 'nics' | 'settings'> {
  const { config, agentTask, before, change } = input;
  if (agentTask.action !== 'apply') return { revision };
  const failedBefore =
    before !== undefined && hasFailed(before) && !isRefusedBefore(config, before);
  const content = appliedContent(input, here);
  const at = rfc3339(now);
  const added = change.settings.map(({ key, value, macs }) => ({
    key,
    value,
    macs: [...macs],
    at,
    rollout: 'started' as const,
    ...(failedBefore ? { failedBefore } : {}),
  }));
  const runs = here ? settingRunsOf(here, imageIn(revision)) : [];
  const settings = [...earlierSettings(input, runs, content.shared), ...added];
  if (change.base !== undefined) {
    return { revision, rollout: 'started', failedBefore, settings, ...content };
  }
  const phase = here?.revision === revision ? here.rollout : undefined;
  const rollout = here && provablePhase(input, here, phase);
  return { revision, rollout, failedBefore: here?.failedBefore, settings, ...content };
}

/** Returns the settings that earlier runs changed, as far as they are on the node or still wanted. */
function earlierSettings(
  { config, contents: { interfaces, keep }, change }: TermsInput,
  runs: readonly SettingRun[],
  shared: SharedContent,
): readonly SettingRun[] {
  if (runs.length === 0) return [];
  const adopts = config.spec?.existingConfiguration === 'Adopt';
  const inForce = new Set(
    [
      ...[shared, sharedOf(config.spec?.interfaces ?? [])].flatMap(settingsOf),
      ...(adopts ? [adoption] : []),
    ].map(labelOf),
  );
  const changed = new Set(change.settings.map(({ key }) => key));
  const macs = { requested: new Set(interfaces.map(({ mac }) => mac)), kept: new Set(keep) };
  return runs
    .filter((run) => !changed.has(run.key) && inForce.has(labelOf(run)))
    .flatMap((run) => settingAtStart(run, macs) ?? []);
}

/** True if the run is the first adoption, and the run before failed only for want of consent. */
function isRefusedBefore(config: NodeConfig, before: Applied): boolean {
  return isNewAdoption(config) && isOnlyRefused(before);
}

/**
 * Returns the inherited phase of source and image; undefined: the run does not count. A successful run without the
 * failed NICs proves nothing. A failure lasts while its NICs wait.
 */
function provablePhase(
  { contents }: TermsInput,
  { nics, macs = [] }: Pick<Applied, 'nics' | 'macs'>,
  phase: RolloutPhase | undefined,
): RolloutPhase | undefined {
  if (phase === undefined || phase === 'done' || !nics) return phase;
  const failed = phase === 'failed' ? failedIn(nics).filter((mac) => macs.includes(mac)) : [];
  const requested = new Set(contents.interfaces.map(({ mac }) => mac));
  const stay = new Set([...requested, ...contents.keep]);
  const isTested =
    failed.length > 0
      ? failed.every((mac) => stay.has(mac))
      : Object.keys(nics).some((mac) => requested.has(mac));
  return isTested ? phase : undefined;
}

/**
 * Returns the record fields about the content after a run; `before`: the record of the node, undefined: none. NICs that
 * stay unchanged keep their recorded content.
 */
export function appliedContent(
  {
    config: { spec },
    contents: { interfaces, keep },
  }: { readonly config: Pick<NodeConfig, 'spec'>; readonly contents: Contents },
  before: Pick<Applied, 'shared' | 'nics'> | undefined,
): { readonly shared: SharedContent; readonly nics: NicHashes } {
  const requested = new Set(interfaces.map(({ mac }) => mac));
  const kept = keep.flatMap((mac) => {
    const known = before?.nics?.[mac];
    return known === undefined ? [] : [[mac, known] as const];
  });
  const macs = { requested, kept: new Set(keep) };
  return {
    shared: sharedAfter(spec?.interfaces ?? [], macs, before?.shared),
    nics: hashesAtStart(
      Object.fromEntries([...interfaces.map((nic) => [nic.mac, nicHash(nic)] as const), ...kept]),
      before?.nics,
    ),
  };
}

/** Returns the record of the last run if this object changed this machine last. */
function recordHere({ before, agentTask: { node, machine } }: TermsInput): Applied | undefined {
  if (before?.nodeName !== node || before.undone) return undefined;
  return isReplaced(machineIn(before), machine) ? undefined : before;
}

/**
 * Returns the record with the agent run that reported `knownInterfaces`. Earlier versions do not store this run: their
 * record is about the run. Otherwise the list would count as unread until the next result.
 */
function withSource(
  record: Applied | undefined,
  { metadata, status }: NodeConfig,
): Applied | undefined {
  const isKnown = knownNics(metadata, status).kind === 'read';
  if (!record || record.knownFrom || !isKnown || !status?.knownInterfaces) return record;
  return { ...record, knownFrom: { uid: metadata.uid ?? '', job: record.job } };
}

/**
 * True if the node's known NICs prove that the run removes none. Agents up to protocol 3 remove every NIC that the
 * request does not list.
 */
function removesNothing(input: TermsInput): boolean {
  const { config, contents, agentTask, removals } = input;
  const here = recordHere(input);
  if (!here) return false;
  // A clean-up of an older agent removes all NICs, also those that a successor lists.
  const stay = agentTask.action === 'cleanup' ? nothing : contents;
  if (removals.length > 0 || lostNics(config, stay)?.length !== 0) return false;
  // Runs without a result may have configured NICs that no list has yet.
  const staying = new Set([...stay.interfaces.map(({ mac }) => mac), ...stay.keep]);
  return (here.requested ?? []).every((mac) => staying.has(mac));
}

/** First protocol version that names the NICs that may leave. */
const namesRemovals = 4 satisfies Protocol;

/**
 * Returns the next older protocol version after an unreadable request, and the newest version after the oldest. Returns
 * the newest version after `AgentTooOld` and after a run by another controller version too: the image may be newer
 * since. A run that may remove a NIC never gets an older version than 4.
 */
function protocolAfter(
  { protocol: spoken, reasons = [], version: by }: Applied,
  version: string,
  isHarmless: boolean,
): Protocol {
  const next = nextProtocol(spoken, reasons, by === version);
  return next < namesRemovals && !isHarmless ? newestProtocol : next;
}

function nextProtocol(
  spoken: Protocol,
  reasons: readonly Reason[],
  isOfThisVersion: boolean,
): Protocol {
  if (reasons.includes('AgentTooOld')) return newestProtocol;
  if (reasons.some((reason) => unreadable.has(reason))) {
    return protocols.findLast((older) => older < spoken) ?? newestProtocol;
  }
  return isOfThisVersion ? spoken : newestProtocol;
}
