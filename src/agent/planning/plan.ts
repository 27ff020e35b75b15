import { dirname } from 'node:path';
import { rulePriority } from '../../api/names.ts';
import { coded } from '../../api/nic-codes.ts';
import { linkOf } from '../identity.ts';
import { type Link, linkNamed, type Snapshot } from '../snapshot.ts';
import { type NicRecord, sha256 } from '../state.ts';
import type { RenderedNic } from './backend.ts';
import {
  type Candidate,
  candidatesOf,
  linkInReach,
  type PlanInput,
  refusedNic,
} from './candidates.ts';
import { desiredState, sharedRoutes, tableRoutes } from './desired.ts';
import { diffNic } from './diff.ts';
import { type LinkState, minIpv6Mtu, type NicState, presentState } from './nic-state.ts';
import { type Obsolete, unlistedNics } from './obsolete.ts';
import { generatedConfigOf, isOwnRule, keysOf } from './ownership.ts';
import { firstRefusal, permission, type Refusal, refusal } from './refusals.ts';
import { handBackTo, undoneEdits } from './return.ts';
import {
  hasLostSettings,
  withForeignMode,
  withForeignSettings,
  withoutForeignChanges,
} from './settings.ts';
import { managerStep } from './takeover.ts';
import {
  inOrder,
  isDone,
  type Plan,
  type RefusedNic,
  removeChanges,
  stateAfter,
  type Target,
  type Unit,
  writeChanges,
} from './unit.ts';

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
      ...recordAfter(candidate, before.link, rendered),
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
      ...recordAfter(candidate, now.link, rendered),
      adoptedInBoot: bootId,
      boot: { bootId, addresses: [] },
    },
  };
}

/** True if the agent configured this link since boot: differing settings are then foreign changes. */
function isSetUp({ record, link }: Candidate, bootId: string): boolean {
  return record?.boot?.bootId === bootId && record.boot.setUp === link.index;
}

function recordAfter(
  { entry, link, record, desired, takeover }: Candidate,
  before: LinkState | undefined,
  { main, companions }: RenderedNic,
): NicRecord {
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
    ...(takeover ? { adopted: [...takeover.adopted] } : {}),
    ...(original ? { original } : {}),
  };
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

/**
 * Plans releasing NICs missing in the request, or all NICs for a clean-up, as far as the request permits their removal.
 * Only state listed in state.json or in an earlier generation's file is removed.
 */
export function planRemoval(input: PlanInput): Plan {
  const { released, blocked } = unlistedNics(input);
  const units: Unit[] = [];
  const refused: RefusedNic[] = [];
  const names = new Set<string>();
  for (const nic of released) {
    const link = releasableLink(input, nic);
    if (link && 'reason' in link) refused.push(refusedRemoval(input, nic.target, link));
    else units.push(removalUnit(input, nic, link, names));
  }
  const staying = blocked.map(({ target, refusal: reason }) =>
    // An unfinished change is a failure, which a later run must end.
    refusedRemoval(input, target, input.inHand?.get(target.mac) ?? reason),
  );
  return { units, refused: [...refused, ...staying] };
}

function refusedRemoval({ host }: PlanInput, target: Target, reason: Refusal): RefusedNic {
  return { target, name: linkOf(host, target.mac)?.name ?? '', refusal: reason };
}

/** Returns the link of a NIC to release, undefined without a link, or why the release must wait. */
function releasableLink(input: PlanInput, nic: Obsolete): Link | Refusal | undefined {
  const { record } = nic;
  return (
    unreadFile(input.host, record) ?? unfinishedAtIndex(input, record) ?? removableLink(input, nic)
  );
}

/** Refuses the release while a recorded file is unreadable: the file may configure the NIC at the next boot. */
function unreadFile({ files }: Snapshot, record: NicRecord): Refusal | undefined {
  const paths = record.files.map(({ path }) => path);
  const file = files.find(({ path, unread }) => unread !== undefined && paths.includes(path));
  if (!file) return undefined;
  const { path, unread } = file;
  return refusal(
    'PersistFailed',
    `${path} cannot be read: ${unread}; make it readable or move it away`,
    coded('FileUnreadable', { path }),
  );
}

/** Refuses a release that would overwrite the journal of another NIC with the same index. */
function unfinishedAtIndex({ state, inHand }: PlanInput, { mac, index }: NicRecord) {
  const other = state.nics.find(
    (nic) => nic.index === index && nic.mac !== mac && inHand?.has(nic.mac),
  );
  return other && inHand?.get(other.mac);
}

/** Returns the NIC's link; undefined if unplugged or detached earlier, leaving only rules and files. */
function removableLink(input: PlanInput, { nic, record }: Obsolete) {
  const { host, request, state, inHand } = input;
  if (nic.rulesOnly || record.adoptedInBoot !== undefined) return inHand?.get(nic.mac);
  const link = linkInReach(input, nic.mac);
  if ('reason' in link) return link.reason === 'WaitingForNIC' ? undefined : link;
  const { protectedAddresses } = request;
  const site = { host, protectedAddresses, records: state.nics, accepted: [] };
  const touched = { link, owned: nic.belongings };
  return firstRefusal(permission, touched, site) ?? receiver(input, link) ?? link;
}

/**
 * Refuses a release while the link's unicast filter has a foreign MAC: a macvlan in a Pod's namespace, invisible on the
 * host, or another user. A change keeps such a user connected, a release does not.
 */
function receiver({ receives }: PlanInput, { name, mac }: Link): Refusal | undefined {
  const other = receives?.get(mac)?.find((each) => each !== mac);
  const message = `${name} also receives frames for MAC ${other}, probably of a macvlan in a Pod`;
  return other === undefined
    ? undefined
    : refusal('NICInUse', message, coded('ForeignReceiver', { link: name, mac: other }));
}

function removalUnit(
  { host, backend }: PlanInput,
  { record, nic, target }: Obsolete,
  link: Link | undefined,
  names: Set<string>,
): Unit {
  const before = presentState(host, link, nic.belongings);
  const name = link ? freeName(host, record, link, names) : '';
  const after = record.adoptedInBoot ? before : bare(host, before, record, name);
  const fileHost = nic.rulesOnly ? { ...host, files: [] } : host;
  return {
    action: 'remove',
    target,
    index: record.index,
    nic,
    before,
    after,
    change: diffNic(before, after),
    ...handBackTo(host, record, link, backend),
    ...leftFile(host, record),
    files: removeChanges(
      fileHost,
      record.mac,
      record.files[0]?.path ?? backend.path(record.index),
      undoneEdits(fileHost, record, backend),
    ),
  };
}

/** Returns the file that stays because its folder is missing, with the record that keeps index and file. */
function leftFile({ missingFolders = [] }: Snapshot, record: NicRecord) {
  const left = record.files.find(({ path }) => missingFolders.includes(dirname(path)));
  if (!left) return {};
  const { routes: _, ...rest } = record;
  const owned = { tables: [], ips: [], routes: [], rules: [] };
  return { fileLeft: left.path, record: { ...rest, addresses: [], owned } };
}

/** Returns the NIC's original name, or `mnfreeN` if unknown or taken. */
function freeName(host: Snapshot, { originalName }: NicRecord, link: Link, names: Set<string>) {
  const holder = linkNamed(host, originalName);
  const free = holder === undefined || holder.index === link.index;
  const name =
    originalName && free && !names.has(originalName) ? originalName : `mnfree${link.index}`;
  names.add(name);
  return name;
}

/** Returns the NIC's state after release: the original link state, without addresses. */
function bare(host: Snapshot, { link }: NicState, { original }: NicRecord, name: string): NicState {
  if (!link) return { rules: [] };
  const { mtu, up } = original ?? { mtu: link.mtu, up: false };
  return {
    link: {
      name,
      mtu,
      up,
      ...(mtu < minIpv6Mtu ? {} : { addressMode: original?.addrGenMode ?? 'eui64' }),
      settings: formerSettings(host, link, original),
      addresses: [],
      // On a link left up, the kernel manages link-local addresses again.
      ...(up ? {} : { linkLocal: [] }),
      routes: [],
    },
    rules: [],
  };
}

/** Falls back to kernel defaults for a NIC without recorded settings. */
function formerSettings(host: Snapshot, link: LinkState, original: NicRecord['original']) {
  const former = { ...link.settings, ...(original ? original.settings : host.defaultSettings) };
  return withoutForeignChanges(former, link.settings);
}

/** Predicts the host after these removals, as a base for the apply plan. */
export function hostAfterRemoval(host: Snapshot, removals: readonly Unit[]): Snapshot {
  const removed = new Map(
    removals.flatMap(({ before, after }) =>
      before.link && after.link ? [[before.link.name, after.link] as const] : [],
    ),
  );
  // Unchanged paths stay: they may hold a foreign file, or a file for a NIC reusing the index.
  const removedFiles = removals
    .flatMap(({ files }) => inOrder(files))
    .filter(({ changed, after }) => changed && after === null);
  const paths = new Set(removedFiles.map(({ path }) => path));
  return {
    ...host,
    links: host.links.map((link) => {
      const after = removed.get(link.name);
      return after ? { ...link, name: after.name, up: after.up, mtu: after.mtu } : link;
    }),
    addresses: host.addresses.filter(({ link }) => !removed.has(link)),
    routes: host.routes.filter(({ links }) => !links.some((name) => removed.has(name))),
    rules: host.rules.filter(
      (rule) => !removals.some(({ nic }) => isOwnRule(rule, nic.belongings)),
    ),
    files: host.files.filter(({ path }) => !paths.has(path)),
  };
}
