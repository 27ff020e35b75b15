import type { Host, Link } from '../host.ts';
import type { NicRecord } from '../state.ts';
import { linkInReach, type PlanInput } from './candidates.ts';
import { diffNic } from './diff.ts';
import { removeChanges } from './files.ts';
import { linkNamed, linksWithMac } from './links.ts';
import { type LinkState, minIpv6Mtu, type NicState } from './nic-state.ts';
import { ownedBy, recordOf } from './ownership.ts';
import { presentState } from './present-state.ts';
import { inUse, untouchable } from './refuse/checks.ts';
import { firstRefusal } from './refuse/refusal.ts';
import type { Plan, RefusedNic, Target, Unit } from './unit.ts';

interface Obsolete {
  readonly record: NicRecord;
  readonly target: Target;
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
    const link = removableLink(input, nic.record);
    if (link && 'reason' in link) {
      const name = linksWithMac(host, nic.record.mac)[0]?.name ?? '';
      refused.push({ target: nic.target, name, refusal: link });
    } else units.push(unitOf(input, nic, link, names));
  }
  return { units, refused };
}

/** The NIC's link; none when it was unplugged, which leaves its rules and files behind. */
function removableLink(input: PlanInput, record: NicRecord) {
  const { host, request, state } = input;
  const link = linkInReach(input, record.mac);
  if ('reason' in link) return link.reason === 'WaitingForNIC' ? undefined : link;
  const { protectedAddresses } = request;
  const site = { host, protectedAddresses, records: state.nics, accepted: [] };
  const nic = { link, owned: ownedBy(record.mac, record, host) };
  return firstRefusal([...untouchable, ...inUse], nic, site) ?? link;
}

function obsolete({ request, state, host }: PlanInput): Obsolete[] {
  const { action, interfaces } = request;
  const all = action === 'cleanup';
  const wanted = new Map(interfaces.map((entry) => [entry.mac, entry]));
  // An entry that cannot be used says nothing about what its NIC shall be: it is not a removal.
  const kept = new Set(request.keep);
  const recorded = state.nics.filter(({ mac }) => all || !(wanted.has(mac) || kept.has(mac)));
  const known = new Set(recorded.map(({ mac }) => mac));
  const inherited = interfaces.flatMap((entry) => {
    if (!all || known.has(entry.mac)) return [];
    return recordOf(entry.mac, entry, state, host) ?? [];
  });
  return [...recorded, ...inherited].map((record) => {
    const portId = wanted.get(record.mac)?.portId;
    const { mac, index } = record;
    return { record, target: { mac, index, ...(portId ? { portId } : {}) } };
  });
}

function unitOf(
  { host, backend }: PlanInput,
  { record, target }: Obsolete,
  link: Link | undefined,
  names: Set<string>,
): Unit {
  const belongings = ownedBy(record.mac, record, host);
  const before = presentState(host, link, belongings);
  const name = link ? freeName(host, record, link, names) : '';
  const after = bare(host, before, record, name);
  return {
    action: 'remove',
    target,
    index: record.index,
    nic: { mac: record.mac, belongings },
    before,
    after,
    change: diffNic(before, after),
    files: removeChanges(host, record.mac, record.files[0]?.path ?? backend.path(record.index)),
  };
}

/** The name the NIC had before it was ours, or one that says that nobody named it. */
function freeName(host: Host, { originalName }: NicRecord, link: Link, names: Set<string>) {
  const holder = linkNamed(host, originalName);
  const free = holder === undefined || holder.index === link.index;
  const name =
    originalName && free && !names.has(originalName) ? originalName : `mnfree${link.index}`;
  names.add(name);
  return name;
}

/** What is left of the NIC: what it was before it was ours, without addresses. */
function bare(host: Host, { link }: NicState, { original }: NicRecord, name: string): NicState {
  if (!link) return { rules: [] };
  const { mtu, up } = original ?? { mtu: link.mtu, up: false };
  return {
    link: {
      name,
      mtu,
      up,
      ...(mtu < minIpv6Mtu ? {} : ipv6Of(host, link, original)),
      addresses: [],
      // Those of a link that is up are the kernel's own business again.
      ...(up ? {} : { linkLocal: [] }),
      routes: [],
    },
    rules: [],
  };
}

/** Of a NIC whose past is not known: the kernel's own defaults. */
function ipv6Of(host: Host, link: LinkState, original: NicRecord['original']) {
  const acceptRa = original?.acceptRa ?? host.defaultAcceptRa ?? link.acceptRa;
  const addressMode = original?.addrGenMode ?? 'eui64';
  return { addressMode, ...(acceptRa === undefined ? {} : { acceptRa }) };
}
