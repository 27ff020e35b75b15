import { rulePriority } from '../../api/names.ts';
import { type AdoptedConfig, type NicRecord, sha256 } from '../state.ts';
import type { RenderedNic } from './backend.ts';
import { type Candidate, candidatesOf, type PlanInput, refusedNic } from './candidates.ts';
import { desiredState, sharedRoutes, tableRoutes } from './desired.ts';
import { diffNic } from './diff.ts';
import { type LinkState, presentState } from './nic-state.ts';
import { generatedConfigOf, keysOf } from './ownership.ts';
import { hostAfterRemoval, planRemoval } from './plan-removal.ts';
import type { Refusal } from './refusals.ts';
import { stillEdited } from './return.ts';
import { hasLostSettings, withForeignMode, withForeignSettings } from './settings.ts';
import { managerStep } from './takeover.ts';
import { isDone, type Plan, type RefusedNic, stateAfter, type Unit, writeChanges } from './unit.ts';

/** Plan for a whole request: removals first, freeing names and tables; applies start from the resulting host. */
export interface WholePlan {
  readonly removal: Plan;
  readonly apply: Plan;
}

/** True if the plan has a transaction to run. */
export function isToChange({ removal, apply }: WholePlan): boolean {
  return [...removal.units, ...apply.units].some((unit) => !isDone(unit));
}

export function planAll(input: PlanInput): WholePlan {
  const { request, state, host } = input;
  const removal = planRemoval(input);
  if (request.action === 'cleanup') return { removal, apply: { units: [], refused: [] } };
  const remaining = removal.units.reduce(stateAfter, state);
  const after = hostAfterRemoval(host, removal.units);
  return { removal, apply: planApply({ ...input, state: remaining, host: after }) };
}

/** Names and paths reserved in a plan. */
interface Taken {
  readonly names: ReadonlySet<string>;
  readonly paths: ReadonlySet<string>;
}

/**
 * Plans the requested NICs. Untouchable NICs are refused individually; a correct NIC yields a transaction without
 * operations.
 */
export function planApply(input: PlanInput): Plan {
  const { host } = input;
  const { candidates, refused } = candidatesOf(input);
  const taken = {
    names: new Set(candidates.map(({ desired }) => desired.name)),
    paths: new Set(candidates.flatMap(({ paths }) => paths)),
  };
  const units: Unit[] = [];
  const refusedChanges: RefusedNic[] = [];
  for (const candidate of candidates) {
    const unit = applyUnit(input, candidate, taken);
    if (isDone(unit) || !candidate.untouchable) units.push(unit);
    else refusedChanges.push(refusedNic(host, candidate.entry, candidate.untouchable));
  }
  return { units, refused: [...refused, ...refusedChanges] };
}

function applyUnit(input: PlanInput, candidate: Candidate, taken: Taken): Unit {
  const { host, backend, bootId } = input;
  const { entry, link, belongings, desired } = candidate;
  const step = stepOf(candidate, input);
  if (step && 'atBoot' in step) return unitAtBoot(input, candidate, taken, step.atBoot);
  const before = presentState(host, link, belongings);
  const want = withForeignMode(desiredState(desired), before);
  const lost = hasLostSettings(before.link?.settings ?? {}, host.defaultSettings);
  const after = withForeignSettings(want, before, isSetUp(candidate, bootId) && !lost);
  const evict = link.name !== desired.name && taken.names.has(link.name);
  const rendered = backend.render(desired);
  const files = writeChanges(host, entry.mac, rendered, taken.paths, candidate.takeover?.edits);
  return {
    action: 'apply',
    target: {
      mac: entry.mac,
      index: entry.index,
      ...(entry.portId ? { portId: entry.portId } : {}),
    },
    index: desired.index,
    nic: { mac: entry.mac, belongings },
    before,
    after,
    change: diffNic(before, after, evict ? { evictTo: `mntmp${link.index}` } : {}),
    files,
    desired,
    ...step,
    record: {
      ...recordAfter(candidate, before.link, { host, backend, rendered }),
      boot: { bootId, ...generatedConfigOf(entry.mac, candidate.record, host), setUp: link.index },
    },
  };
}

function stepOf({ takeover, link, desired }: Candidate, { host, bus }: PlanInput) {
  return takeover && managerStep(link, desired, host, bus ?? { missing: true });
}

/** Returns a transaction for the files alone: the link keeps the present configuration until the next boot. */
function unitAtBoot(
  { host, backend, bootId }: PlanInput,
  candidate: Candidate,
  taken: Taken,
  atBoot: Refusal,
): Unit {
  const { entry, link, belongings, desired } = candidate;
  const { mac, index, portId } = entry;
  const now = presentState(host, link, belongings);
  const rendered = backend.render(desired);
  return {
    action: 'apply',
    target: { mac, index, ...(portId ? { portId } : {}) },
    index: desired.index,
    nic: { mac, belongings },
    before: now,
    after: now,
    change: { sysctls: [], operations: [] },
    files: writeChanges(host, mac, rendered, taken.paths, candidate.takeover?.edits),
    desired,
    atBoot,
    record: {
      ...recordAfter(candidate, now.link, { host, backend, rendered }),
      adoptedInBoot: bootId,
      boot: { bootId, addresses: [] },
    },
  };
}

/** True if the agent configured this link since boot: differing settings are then foreign changes. */
function isSetUp({ record, link }: Candidate, bootId: string): boolean {
  return record?.boot?.bootId === bootId && record.boot.setUp === link.index;
}

interface Written extends Pick<PlanInput, 'host' | 'backend'> {
  readonly rendered: RenderedNic;
}

function recordAfter(
  candidate: Candidate,
  before: LinkState | undefined,
  { host, backend, rendered: { main, companions } }: Written,
): NicRecord {
  const { entry, link, record, desired } = candidate;
  const adopted = adoptedAfter(candidate, host, backend);
  const original = originalOf(record, before);
  const shared = sharedRoutes(desired).map(({ to, table, metric }) => ({ to, table, metric }));
  const inTable = tableRoutes(desired);
  return {
    mac: entry.mac,
    index: desired.index,
    originalName: record?.originalName ?? link.name,
    addresses: [...desired.addresses],
    table: desired.table,
    priority: rulePriority(desired.index),
    ...(shared.length > 0 ? { routes: shared } : {}),
    ...(inTable.length > 0 ? { tableRoutes: inTable } : {}),
    files: [main, ...companions].map(({ path, text }) => ({ path, sha256: sha256(text) })),
    owned: keysOf({ ...desired, routes: shared }),
    ...(adopted.length > 0 ? { adopted } : {}),
    ...(original ? { original } : {}),
  };
}

/** Returns the NIC's adopted configurations. An objection ends no adoption, and an edited file stays until undone. */
function adoptedAfter(
  {
    record = {},
    desired,
    takeover,
  }: Pick<Candidate, 'desired' | 'takeover'> & { record?: Pick<NicRecord, 'adopted'> },
  host: PlanInput['host'],
  backend: PlanInput['backend'],
): AdoptedConfig[] {
  const kept = desired.adopted ? record.adopted : undefined;
  const now = takeover?.adopted ?? kept ?? [];
  const paths = new Set(now.map(({ path }) => path));
  return [...now, ...stillEdited(host, record, backend).filter(({ path }) => !paths.has(path))];
}

/**
 * Returns the link state from before the agent managed the NIC, without addresses and routes. Settings managed only by
 * this agent version are added.
 */
function originalOf(
  record: NicRecord | undefined,
  before: LinkState | undefined,
): NicRecord['original'] {
  if (record?.original && before) {
    const { original } = record;
    const known = Object.keys(original.settings);
    const late = Object.entries(before.settings).filter(([key]) => !known.includes(key));
    return { ...original, settings: { ...original.settings, ...Object.fromEntries(late) } };
  }
  if (record || !before) return record?.original;
  const { mtu, up, addressMode, settings } = before;
  return {
    mtu,
    up,
    ...(addressMode === undefined ? {} : { addrGenMode: addressMode }),
    settings,
  };
}
