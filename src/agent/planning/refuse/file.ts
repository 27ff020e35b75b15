import type { ConfigFile } from '../../host.ts';
import { type Refusal, refusal, type Site, type WantedNic } from './refusal.ts';

/** The path may hold a file of ours, about this NIC or about one that gives the path up. */
export function pathTaken({ path, desired }: WantedNic, site: Site): Refusal | undefined {
  const { host, accepted, records } = site;
  const there = host.files.find((file) => file.path === path);
  if (!there) return undefined;
  const ours = [desired, ...accepted.map((nic) => nic.desired), ...records].map(({ mac }) => mac);
  if (there.own && ours.includes(there.own.mac)) return undefined;
  return refusal('PersistFailed', `${path} is a file of somebody else; move it away`);
}

/** A file of somebody else configures the NIC, by its MAC or by a name: after a boot two would. */
export function claimed(nic: WantedNic, { host }: Site): Refusal | undefined {
  const names = namesOf(nic);
  const claim = host.files.find(
    (file) => !file.own && (file.macs.includes(nic.desired.mac) || mentions(file, names)),
  );
  if (!claim) return undefined;
  return refusal('NICInUse', `${claim.path} configures the NIC; take it out of there`);
}

/** What nobody can read may configure this very NIC. One of ours went on beside it and may. */
export function unread({ record }: WantedNic, { host }: Site): Refusal | undefined {
  const file = record ? undefined : host.files.find((each) => each.unread !== undefined);
  if (!file) return undefined;
  const message = `${file.path} may configure the NIC, the agent cannot read it: ${file.unread}`;
  return refusal('NICInUse', message);
}

/** A file for every NIC of such a name would configure this one at the next boot, in place of ours or beside it. */
export function caught(nic: WantedNic, { host }: Site): Refusal | undefined {
  if (nic.record) return undefined;
  const names = namesOf(nic);
  const match = (pattern: string) => names.some((name) => matches(name, pattern));
  for (const { path, leases = [], patterns = [] } of host.files) {
    const lease = leases.find(match);
    const pattern = lease ?? patterns.find(match);
    if (pattern === undefined) continue;
    const how = lease === undefined ? '' : ' by DHCP';
    const message = `${path} has every NIC named ${pattern} configured${how}; leave this one out`;
    return refusal(lease === undefined ? 'NICInUse' : 'LeasedByHost', message);
  }
  return undefined;
}

function namesOf({ link, record }: WantedNic): string[] {
  const names = [link.name, ...link.altNames, record?.originalName ?? ''];
  return names.filter((name) => name !== '');
}

function mentions({ names = [] }: ConfigFile, own: readonly string[]): boolean {
  return names.some((name) => own.includes(name));
}

/** A shell pattern of netplan: `*`, `?` and sets. */
function matches(name: string, pattern: string): boolean {
  const source = pattern
    .replaceAll(/[.+^${}()|\\]/g, String.raw`\$&`)
    .replaceAll('[!', '[^')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  try {
    return new RegExp(`^${source}$`).test(name);
  } catch (error) {
    // A set that does not end matches nothing.
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
