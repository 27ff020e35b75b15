import { dirname } from 'node:path';
import { interfaceName, maxIndex } from '../../api/names.ts';
import { interim } from '../backends/ifcfg-claims.ts';
import { profileUuid } from '../backends/profile.ts';
import type { Link, ManagedLink } from '../snapshot.ts';
import { readHostFiles } from './host-files.ts';

/** Folder with a file per link known to networkd, named by link index (sd-network reads them too). */
export const networkdLinks = '/run/systemd/netif/links';

/** Folder with a file per link known to NetworkManager, named by link index. */
export const networkManagerLinks = '/run/NetworkManager/devices';

/** Virtual links that may be the node's own link, with its name servers. */
const ownKinds: ReadonlySet<string | undefined> = new Set([undefined, 'bond', 'bridge', 'vlan']);

/**
 * Returns the network manager's view of the NICs with these MACs, and of links that may be the node's own. A node may have
 * hundreds of container links, so only these files are read.
 */
export function managedLinksOn(
  hostRoot: string,
  links: readonly Link[],
  macs: ReadonlySet<string>,
): ReadonlyMap<number, ManagedLink> {
  const nics = links.filter(({ mac, kind }) => macs.has(mac) || ownKinds.has(kind));
  return new Map(
    nics.flatMap(({ index, mac }) => {
      const link = viewOf(hostRoot, { index, mac });
      return link ? [[index, link] as const] : [];
    }),
  );
}

/** networkd also has a state file for a link without configuration by networkd, such as by NetworkManager. */
function viewOf(hostRoot: string, link: Pick<Link, 'index' | 'mac'>): ManagedLink | undefined {
  const text = linkFile(hostRoot, networkdLinks, link.index);
  const byNetworkd = text === '' ? undefined : managedLink(hostRoot, text);
  return byNetworkd?.file === undefined ? (profiledLink(hostRoot, link) ?? byNetworkd) : byNetworkd;
}

/** Returns the link as NetworkManager configures the link; undefined if unmanaged, or managed without a profile. */
function profiledLink(
  hostRoot: string,
  { index, mac }: Pick<Link, 'index' | 'mac'>,
): ManagedLink | undefined {
  const file = profileOn(hostRoot, index);
  if (file === undefined) return undefined;
  const profile = ownUuids(mac).has(file) ? 'own' : 'foreign';
  return { file, profile, names: [], nameServers: [] };
}

/** Returns the uuid of the active NetworkManager profile on the link; undefined if none. */
function profileOn(hostRoot: string, index: number): string | undefined {
  const text = linkFile(hostRoot, networkManagerLinks, index);
  return valueOf(text, 'managed') === 'true' ? valueOf(text, 'connection-uuid') : undefined;
}

function ownUuids(mac: string): ReadonlySet<string> {
  const names = Array.from({ length: maxIndex + 1 }, (_, index) => interfaceName(index));
  return new Set(
    names.flatMap((name) => [profileUuid({ mac, name }), profileUuid({ mac, name }, interim)]),
  );
}

function managedLink(hostRoot: string, text: string): ManagedLink {
  const file = valueOf(text, 'NETWORK_FILE');
  const names = file === undefined ? [] : namesIn(fileText(hostRoot, file));
  return { ...(file ? { file } : {}), names, nameServers: nameServersIn(text) };
}

/** Returns the link names a `.network` file matches, as far as the first `[Match]` section says. */
function namesIn(text: string): string[] {
  return valueOf(text, 'Name')?.split(/\s+/) ?? [];
}

function fileText(hostRoot: string, path: string): string {
  const files = readHostFiles(hostRoot, { directory: dirname(path), suffix: '.network' });
  return files.find((file) => file.path === path)?.text ?? '';
}

/** True if networkd is still configuring the link; false without a state file. */
export function isConfiguring(hostRoot: string, index: number): boolean {
  const state = valueOf(linkFile(hostRoot, networkdLinks, index), 'ADMIN_STATE');
  return state === 'pending' || state === 'initialized' || state === 'configuring';
}

/** Returns the file by which networkd configures the link; undefined if none. */
export function networkFileOn(hostRoot: string, index: number): string | undefined {
  return valueOf(linkFile(hostRoot, networkdLinks, index), 'NETWORK_FILE');
}

/** Returns a network manager's state file about the link; empty without a file. */
function linkFile(hostRoot: string, directory: string, index: number): string {
  const files = readHostFiles(hostRoot, { directory, suffix: String(index) });
  return files.find(({ path }) => path.endsWith(`/${index}`))?.text ?? '';
}

function nameServersIn(text: string): string[] {
  // A server may have a link and a server name: `fe80::1%2#dns.example`.
  const servers = valueOf(text, 'DNS')?.split(/\s+/) ?? [];
  return servers.map((server) => server.replace(/[%#].*$/, ''));
}

/** Returns the value in the first line `key=value`, without shell quotes. */
export function valueOf(text: string, key: string): string | undefined {
  const [, value] = new RegExp(`^\\s*${key}=["']?(.*?)["']?\\s*$`, 'm').exec(text) ?? [];
  return value || undefined;
}
