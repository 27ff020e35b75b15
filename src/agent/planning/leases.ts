import { type KernelSnapshot, rt, type Snapshot } from '../snapshot.ts';
import { leasing } from './refusals.ts';

/** Whether the host's own network manager has set anything on the link that it was given by others. */
export function isLeased({ addresses, routes }: KernelSnapshot, name: string): boolean {
  return (
    addresses.some(({ link, temporary }) => link === name && temporary) ||
    routes.some(({ links, protocol }) => leasing.has(protocol) && links.includes(name))
  );
}

/** The host as it will be once nothing leased is on these links: without that, and without what is made of it. */
export function hostWithoutLeases(host: Snapshot, names: readonly string[]): Snapshot {
  const made = new Set<number>([...leasing, rt.protocolKernel]);
  return {
    ...withoutAutomaticProfiles(host, names),
    addresses: host.addresses.filter(({ link, temporary }) => !temporary || !names.includes(link)),
    routes: host.routes.filter(
      ({ links, protocol }) => !(made.has(protocol) && links.some((name) => names.includes(name))),
    ),
  };
}

/** Without the profiles that the network manager made by itself for these links, which it has let go of. */
export function withoutAutomaticProfiles(host: Snapshot, names: readonly string[]): Snapshot {
  const isFor = (name: string) => names.includes(name);
  return {
    ...host,
    files: host.files.filter((file) => !(file.generated && file.leases?.every(isFor))),
  };
}
