import { familyOf, ipOf } from '../../api/address.ts';
import type { Clock } from '../../time/clock.ts';
import { type KernelSnapshot, rt } from '../snapshot.ts';
import { type PathNic, presentAddresses } from './lookups.ts';

/** Time limit in ms for entries of new addresses. */
const patienceMs = 1_000;
const pauseMs = 50;

/** Returns an address without an entry in the local table; a lookup from the address does not show the loss. */
export function withoutLocalEntry(nic: PathNic, host: KernelSnapshot): string | undefined {
  const { link } = nic;
  // Without a carrier the kernel adds no IPv6 entries.
  if (!link.up || link.noCarrier) return undefined;
  const entries = host.routes.filter(
    ({ table, type }) => table === rt.localTable && type === rt.local,
  );
  const families = new Set(entries.map(({ family }) => family));
  const there = new Set(
    entries.filter(({ links }) => links.includes(link.name)).map(({ to }) => ipOf(to)),
  );
  return presentAddresses(nic, host)
    .map(ipOf)
    .find((ip) => families.has(familyOf(ip)) && !there.has(ip));
}

/**
 * Returns the snapshot, or a later one with the local entries of all addresses. The kernel lists a new IPv6 address
 * before a worker adds the entry (net/ipv6/addrconf.c), and a snapshot reads routes before addresses.
 */
export async function withLocalEntries(
  nics: readonly PathNic[],
  first: KernelSnapshot,
  { clock, read }: { readonly clock: Clock; readonly read: () => Promise<KernelSnapshot> },
): Promise<KernelSnapshot> {
  const end = clock.monotonicMs() + patienceMs;
  let host = first;
  while (nics.some((nic) => withoutLocalEntry(nic, host)) && clock.monotonicMs() < end) {
    await clock.sleep(pauseMs);
    host = await read();
  }
  return host;
}
