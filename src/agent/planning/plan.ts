import { rulePriority } from '../../api/names.ts';
import type { RenderedNic } from '../backends/backend.ts';
import { linkOf } from '../identity.ts';
import { type Link, linkNamed, type Snapshot } from '../snapshot.ts';
import { type NicRecord, sha256 } from '../state.ts';
import {
  type Candidate,
  candidatesOf,
  linkInReach,
  type PlanInput,
  refusedNic,
} from './candidates.ts';
import { desiredState, sharedRoutes } from './desired.ts';
import { diffNic } from './diff.ts';
import { type LinkState, minIpv6Mtu, type NicState, presentState } from './nic-state.ts';
import { type Obsolete, obsolete } from './obsolete.ts';
import { generatedConfigOf, isOwnRule, keysOf } from './ownership.ts';
import { firstRefusal, inUse, type Refusal, refusal, untouchable } from './refusals.ts';
import {
  hasLostSettings,
  withForeignMode,
  withForeignSettings,
  withoutForeignChanges,
} from './settings.ts';
import {
  inOrder,
  isDone,
  type Plan,
  type RefusedNic,
  removeChanges,
  stateAfter,
  type Unit,
  writeChanges,
} from './unit.ts';

/** All that a request asks for: removals first, as they free names and tables, then the rest on what they leave. */
export interface WholePlan {
  readonly removal: Plan;
  readonly apply: Plan;
}

export function planAll(input: PlanInput): WholePlan {
  const { request, state, host } = input;
  const removal = planRemoval(input);
  if (request.action === 'cleanup') return { removal, apply: { units: [], refused: [] } };
  const kept = removal.units.reduce(stateAfter, state);
  const after = hostAfterRemoval(host, removal.units);
  return { removal, apply: planApply({ ...input, state: kept, host: after }) };
}

/** Names that are already given away in a plan. */
interface Taken {
  readonly names: ReadonlySet<string>;
  readonly paths: ReadonlySet<string>;
}

/**
 * What is to be done so that the host has the NICs of the request. NICs that must not be touched are refused one by one;
 * one that is as it shall be yields a unit without operations.
 */
export function planApply(input: PlanInput): Plan {
  const { host } = input;
  const { candidates, refused } = candidatesOf(input);
  const taken = {
    names: new Set(candidates.map(({ desired }) => desired.name)),
    paths: new Set(candidates.flatMap(({ paths }) => paths)),
  };
  const units: Unit[] = [];
  const used: RefusedNic[] = [];
  for (const candidate of candidates) {
    const unit = applyUnit(input, candidate, taken);
    if (isDone(unit) || !candidate.inUse) units.push(unit);
    else used.push(refusedNic(host, candidate.entry, candidate.inUse));
  }
  return { units, refused: [...refused, ...used] };
}

function applyUnit({ host, backend, bootId }: PlanInput, candidate: Candidate, taken: Taken): Unit {
  const { entry, link, belongings, desired } = candidate;
  const before = presentState(host, link, belongings);
  const want = withForeignMode(desiredState(desired), before);
  const lost = hasLostSettings(before.link?.settings ?? {}, host.defaultSettings);
  const after = withForeignSettings(want, before, isSetUp(candidate, bootId) && !lost);
  const evict = link.name !== desired.name && taken.names.has(link.name);
  const rendered = backend.render(desired);
  const files = writeChanges(host, entry.mac, rendered, taken.paths);
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
    record: {
      ...recordAfter(candidate, before.link, rendered),
      boot: { bootId, ...generatedConfigOf(entry.mac, candidate.record, host), setUp: link.index },
    },
  };
}

/** Whether the agent has set up this very link since the boot: what its settings are now is what others made of them. */
function isSetUp({ record, link }: Candidate, bootId: string): boolean {
  return record?.boot?.bootId === bootId && record.boot.setUp === link.index;
}

function recordAfter(
  { entry, link, record, desired }: Candidate,
  before: LinkState | undefined,
  { main, companions }: RenderedNic,
): NicRecord {
  const original = originalOf(record, before);
  const shared = sharedRoutes(desired).map(({ to, table, metric }) => ({ to, table, metric }));
  return {
    mac: entry.mac,
    index: desired.index,
    originalName: record?.originalName ?? link.name,
    addresses: [...desired.addresses],
    table: desired.table,
    priority: rulePriority(desired.index),
    ...(shared.length > 0 ? { routes: shared } : {}),
    files: [main, ...companions].map(({ path, text }) => ({ path, sha256: sha256(text) })),
    owned: keysOf({ ...desired, routes: shared }),
    ...(original ? { original } : {}),
  };
}

/** What the NIC was like before it was ours; its addresses and routes were not. A setting that was not ours until now is. */
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
 * What is to be done so that nothing of ours is left of the NICs that the request no longer has, or of all when it asks
 * for a clean-up. Only what state.json, or a file of an earlier generation, says is ours can be removed.
 */
export function planRemoval(input: PlanInput): Plan {
  const { host } = input;
  const units: Unit[] = [];
  const refused: RefusedNic[] = [];
  const names = new Set<string>();
  for (const nic of obsolete(input)) {
    const { record } = nic;
    const link =
      unreadFile(host, record) ?? othersInHand(input, record) ?? removableLink(input, nic);
    if (link && 'reason' in link) {
      const name = linkOf(host, nic.record.mac)?.name ?? '';
      refused.push({ target: nic.target, name, refusal: link });
    } else units.push(removalUnit(input, nic, link, names));
  }
  return { units, refused };
}

/** What nobody can read may still be about the NIC: it would be configured by it at the next boot. */
function unreadFile({ files }: Snapshot, record: NicRecord): Refusal | undefined {
  const paths = record.files.map(({ path }) => path);
  const file = files.find(({ path, unread }) => unread !== undefined && paths.includes(path));
  if (!file) return undefined;
  const { path, unread } = file;
  return refusal(
    'PersistFailed',
    `${path} cannot be read: ${unread}; let root read it, or move it away`,
  );
}

/** The journal of another NIC that had the number since must not be written over. */
function othersInHand({ state, inHand }: PlanInput, { mac, index }: NicRecord) {
  const other = state.nics.find(
    (nic) => nic.index === index && nic.mac !== mac && inHand?.has(nic.mac),
  );
  return other && inHand?.get(other.mac);
}

/** The NIC's link; none when it was unplugged, or had left before, which leaves its rules and files behind. */
function removableLink(input: PlanInput, { nic }: Obsolete) {
  const { host, request, state, inHand } = input;
  if (nic.rulesOnly) return inHand?.get(nic.mac);
  const link = linkInReach(input, nic.mac);
  if ('reason' in link) return link.reason === 'WaitingForNIC' ? undefined : link;
  const { protectedAddresses } = request;
  const site = { host, protectedAddresses, records: state.nics, accepted: [] };
  const touched = { link, owned: nic.belongings };
  return firstRefusal([...untouchable, ...inUse], touched, site) ?? receiver(input, link) ?? link;
}

/**
 * A macvlan in the namespace of a Pod, which the host does not show, or another user of the link: its MAC is in the link's unicast
 * filter. The change of a NIC leaves it connected, a removal does not.
 */
function receiver({ receives }: PlanInput, { name, mac }: Link): Refusal | undefined {
  const other = receives?.get(mac)?.find((each) => each !== mac);
  const message = `${name} receives for the MAC ${other}, as of a macvlan in a Pod`;
  return other === undefined ? undefined : refusal('NICInUse', message);
}

function removalUnit(
  { host, backend }: PlanInput,
  { record, nic, target }: Obsolete,
  link: Link | undefined,
  names: Set<string>,
): Unit {
  const before = presentState(host, link, nic.belongings);
  const name = link ? freeName(host, record, link, names) : '';
  const after = bare(host, before, record, name);
  const there = nic.rulesOnly ? { ...host, files: [] } : host;
  return {
    action: 'remove',
    target,
    index: record.index,
    nic,
    before,
    after,
    change: diffNic(before, after),
    files: removeChanges(there, record.mac, record.files[0]?.path ?? backend.path(record.index)),
  };
}

/** The name the NIC had before it was ours, or one that says that nobody named it. */
function freeName(host: Snapshot, { originalName }: NicRecord, link: Link, names: Set<string>) {
  const holder = linkNamed(host, originalName);
  const free = holder === undefined || holder.index === link.index;
  const name =
    originalName && free && !names.has(originalName) ? originalName : `mnfree${link.index}`;
  names.add(name);
  return name;
}

/** What is left of the NIC: what it was before it was ours, without addresses. */
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
      // Those of a link that is up are the kernel's own business again.
      ...(up ? {} : { linkLocal: [] }),
      routes: [],
    },
    rules: [],
  };
}

/** Of a NIC whose past is not known: what the kernel gives to a new one. */
function formerSettings(host: Snapshot, link: LinkState, original: NicRecord['original']) {
  const former = { ...link.settings, ...(original ? original.settings : host.defaultSettings) };
  return withoutForeignChanges(former, link.settings);
}

/** The host as it will be once these NICs are removed; what a plan for the others starts from. */
export function hostAfterRemoval(host: Snapshot, removals: readonly Unit[]): Snapshot {
  const removed = new Map(
    removals.flatMap(({ before, after }) =>
      before.link && after.link ? [[before.link.name, after.link] as const] : [],
    ),
  );
  // A path at which nothing goes may have a file of somebody else, or of the NIC that has the number by now.
  const gone = removals.flatMap(({ files }) => inOrder(files)).filter(({ changed }) => changed);
  const paths = new Set(gone.map(({ path }) => path));
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
