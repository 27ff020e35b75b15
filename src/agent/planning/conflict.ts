import { ipOf } from '../../api/address.ts';
import type { RequestInterface } from '../../api/job.ts';
import { indexOfName, interfaceName } from '../../api/names.ts';
import { coded } from '../../api/nic-codes.ts';
import { nicOf } from '../identity.ts';
import type { Snapshot } from '../snapshot.ts';
import type { NicRecord } from '../state.ts';
import { type Refusal, type RefusalFacts, refusal, type WantedNic } from './refusals.ts';

/** Entries that wait for a NIC with a blocked removal, each with the reason. */
type Waiting = ReadonlyMap<RequestInterface, Refusal>;

/**
 * Returns entries whose index or interface name a NIC with a blocked removal has. Such an entry gets no free index
 * instead: a managed NIC keeps the index for good.
 */
export function slotConflicts(
  entries: readonly RequestInterface[],
  records: ReadonlyMap<string, NicRecord>,
  blocked: readonly NicRecord[],
  host: Snapshot,
): Waiting {
  return waiting(entries, ({ mac, index }) =>
    slotConflict(records.get(mac)?.index ?? index, blocked, host),
  );
}

/** Returns entries with an address that a NIC with a blocked removal has, in its record or on its link. */
export function addressConflicts(
  entries: readonly RequestInterface[],
  blocked: readonly NicRecord[],
  host: Snapshot,
): Waiting {
  return waiting(entries, (entry) => addressConflict(entry, blocked, host));
}

function waiting(
  entries: readonly RequestInterface[],
  conflictOf: (entry: RequestInterface) => Refusal | undefined,
): Waiting {
  return new Map(
    entries.flatMap((entry) => {
      const conflict = conflictOf(entry);
      return conflict ? [[entry, conflict] as const] : [];
    }),
  );
}

function slotConflict(
  index: number,
  blocked: readonly NicRecord[],
  host: Snapshot,
): Refusal | undefined {
  for (const nic of blocked) {
    if (nic.index === index) return inUseBy(nic, `index ${index}`);
    const name = interfaceName(index);
    if (linkNames(nic, host).includes(name)) return inUseBy(nic, `name ${name}`);
  }
  return undefined;
}

function addressConflict(
  { addresses }: RequestInterface,
  blocked: readonly NicRecord[],
  host: Snapshot,
): Refusal | undefined {
  for (const nic of blocked) {
    const links = new Set(nicOf(host, nic.mac).links.map(({ name }) => name));
    const present = host.addresses.filter(({ link }) => links.has(link));
    const ips = new Set([...nic.addresses, ...present.map(({ cidr }) => cidr)].map(ipOf));
    const taken = addresses.map(ipOf).find((ip) => ips.has(ip));
    if (taken !== undefined) return inUseBy(nic, `address ${taken}`);
  }
  return undefined;
}

/** Refuses a NIC with the path of a file about a NIC with a blocked removal. */
export function pathConflict(
  { paths }: WantedNic,
  { blocked = [], host }: RefusalFacts,
): Refusal | undefined {
  for (const nic of blocked) {
    const own = host.files.filter((file) => file.own?.mac === nic.mac);
    const taken = [...own, ...nic.files].find(({ path }) => paths.includes(path));
    if (taken) return inUseBy(nic, taken.path);
  }
  return undefined;
}

/** Returns the indexes of NICs with a blocked removal, and the indexes in their interface names. */
export function blockedIndexes(blocked: readonly NicRecord[], host: Snapshot): number[] {
  return blocked.flatMap((nic) => [
    nic.index,
    ...linkNames(nic, host).flatMap((name) => indexOfName(name) ?? []),
  ]);
}

function linkNames({ mac }: NicRecord, host: Snapshot): string[] {
  return nicOf(host, mac).links.flatMap(({ name, altNames }) => [name, ...altNames]);
}

function inUseBy({ mac }: NicRecord, subject: string): Refusal {
  return refusal(
    'RemovalHeld',
    `${subject} is in use by NIC ${mac}, whose removal is held`,
    coded('HeldNicHas', { mac }),
  );
}
