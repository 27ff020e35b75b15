import { dirname } from 'node:path';
import { coded } from '../../api/nic-codes.ts';
import { linkOf } from '../identity.ts';
import { type Link, linkNamed, type Snapshot } from '../snapshot.ts';
import type { NicRecord } from '../state.ts';
import { linkInReach, type PlanInput } from './candidates.ts';
import { diffNic } from './diff.ts';
import { type LinkState, minIpv6Mtu, type NicState, presentState } from './nic-state.ts';
import { type Obsolete, unlistedNics } from './obsolete.ts';
import { isOwnRule } from './ownership.ts';
import { firstRefusal, permission, type Refusal, refusal } from './refusals.ts';
import { handBackTo, undoneEdits } from './return.ts';
import { withoutForeignChanges } from './settings.ts';
import {
  inOrder,
  type Plan,
  type RefusedNic,
  removeChanges,
  type Target,
  type Unit,
} from './unit.ts';

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
