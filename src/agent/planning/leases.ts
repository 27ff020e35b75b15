import { ipOf } from '../../api/address.ts';
import { type KernelSnapshot, rt, type Snapshot } from '../snapshot.ts';
import { type Belongings, routeKey } from './ownership.ts';
import { leasing } from './refusals.ts';

/** True if the link carries leased state: an expiring address, or a route from DHCP or a router advertisement. */
export function isLeased({ addresses, routes }: KernelSnapshot, name: string): boolean {
  return (
    addresses.some(({ link, temporary }) => link === name && temporary) ||
    routes.some(({ links, protocol }) => leasing.has(protocol) && links.includes(name))
  );
}

/** Returns ownership keys for leased state on the link: expiring addresses, and routes from DHCP or advertisements. */
export function leasedOn(name: string, { addresses, routes }: KernelSnapshot): Belongings {
  const leased = addresses.filter(({ link, temporary }) => link === name && temporary);
  const learned = routes.filter(
    ({ links, protocol }) => leasing.has(protocol) && links.includes(name),
  );
  return {
    tables: [],
    ips: leased.map(({ cidr }) => ipOf(cidr)),
    routes: learned.map(routeKey),
    rules: [],
  };
}

/**
 * Predicts the host after lease removal: without leased addresses and routes, and without kernel routes derived from
 * them.
 */
export function hostWithoutLeases(host: Snapshot, names: readonly string[]): Snapshot {
  const derived = new Set<number>([...leasing, rt.protocolKernel]);
  return {
    ...withoutAutomaticProfiles(host, names),
    addresses: host.addresses.filter(({ link, temporary }) => !temporary || !names.includes(link)),
    routes: host.routes.filter(
      ({ links, protocol }) =>
        !(derived.has(protocol) && links.some((name) => names.includes(name))),
    ),
  };
}

/** Removes automatic profiles for these links: the network manager has released the links. */
export function withoutAutomaticProfiles(host: Snapshot, names: readonly string[]): Snapshot {
  const isFor = (name: string) => names.includes(name);
  return {
    ...host,
    files: host.files.filter((file) => !(file.generated && file.leases?.every(isFor))),
  };
}
