import type { Host, Link } from '../host.ts';
import type { NicRecord } from '../state.ts';
import { onlyLink, type PlanInput } from './candidates.ts';
import { diffNic } from './diff.ts';
import { removeChanges } from './files.ts';
import { ipOf } from './ipv4.ts';
import { linkNamed, linksWithMac } from './links.ts';
import type { NicState } from './nic-state.ts';
import { recordOf } from './ownership.ts';
import { presentState } from './present-state.ts';
import { refuseInUse, refuseLink } from './refuse.ts';
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
  const { host, request } = input;
  const units: Unit[] = [];
  const refused: RefusedNic[] = [];
  const names = new Set<string>();
  for (const nic of obsolete(input)) {
    const link = removableLink(host, nic.record, request.protectedAddresses);
    if (link && 'reason' in link) {
      const name = linksWithMac(host, nic.record.mac)[0]?.name ?? '';
      refused.push({ target: nic.target, name, refusal: link });
    } else units.push(unitOf(input, nic, link, names));
  }
  return { units, refused };
}

/** The NIC's link; none when it was unplugged, which leaves its rules and files behind. */
function removableLink(host: Host, record: NicRecord, protectedAddresses: readonly string[]) {
  const link = onlyLink(host, record.mac);
  if ('reason' in link) return link.reason === 'WaitingForNIC' ? undefined : link;
  const refusal =
    refuseLink(host, link, record, protectedAddresses) ?? refuseInUse(host, link, record);
  return refusal ?? link;
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
  const belongings = { tables: [record.table], ips: record.addresses.map(ipOf) };
  const before = presentState(host, link, belongings);
  const name = link ? freeName(host, record, link, names) : '';
  const after = bare(host, before, name);
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

/** What is left of the NIC: down, without addresses, with the kernel's own defaults for IPv6. */
function bare(host: Host, { link }: NicState, name: string): NicState {
  if (!link) return { rules: [] };
  const acceptRa = host.defaultAcceptRa ?? link.acceptRa;
  return {
    link: {
      name,
      // udev sets it again at the new name, from what netplan generated at the last boot.
      mtu: link.mtu,
      up: false,
      ...(link.addressMode === undefined ? {} : { addressMode: 'eui64' }),
      ...(link.acceptRa === undefined || acceptRa === undefined ? {} : { acceptRa }),
      addresses: [],
      linkLocal: [],
      routes: [],
    },
    rules: [],
  };
}
