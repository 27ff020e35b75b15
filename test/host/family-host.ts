import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { hostMounts } from '../../src/api/host-mounts.ts';
import type { Family } from '../../src/api/job.ts';
import { networkdLink, networkManagerLink } from '../fixtures/recorded-managers.ts';

/** Files by which a network manager shows the primary NIC, by path; `%` stands for the link index. */
const evidence: Readonly<Record<Family, Readonly<Record<string, string>>>> = {
  netplan: {},
  networkd: {
    'run/systemd/netif/links/%': networkdLink.bookwormOwn,
    'etc/systemd/network/50-eth0.network': '[Match]\nName=eth0\n[Network]\nDHCP=yes\n',
  },
  keyfile: { 'run/NetworkManager/devices/%': networkManagerLink.connected },
  ifcfg: {
    'run/NetworkManager/devices/%': networkManagerLink.connected,
    'etc/sysconfig/network-scripts/ifcfg-eth0': 'TYPE=Ethernet\nDEVICE=eth0\nONBOOT=yes\n',
  },
};

/** Creates a host managed by this network manager, with every folder in the agent's Pod. */
export async function createFamilyHost(
  name: string,
  family: Family,
  nics: Readonly<Record<string, string>>,
): Promise<NamespaceHost> {
  const host = await createHost(`${name}-${family}`, { nics });
  const links = (await host.ipJson('link', 'show', 'eth0')) as { readonly ifindex: number }[];
  const created = hostMounts[family].filter(({ type }) => type === 'DirectoryOrCreate');
  for (const { path } of created) await mkdir(join(host.root, path), { recursive: true });
  for (const [path, text] of Object.entries(evidence[family])) {
    const target = join(host.root, path.replace('%', `${links[0]?.ifindex}`));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text);
  }
  return host;
}

/** Returns text by path for every managed file below /etc, without backups. */
export async function filesOfOurs({ root }: NamespaceHost): Promise<Record<string, string>> {
  const names = await readdir(join(root, 'etc'), { recursive: true, withFileTypes: true });
  const paths = names
    .filter((entry) => entry.isFile() && entry.name.includes('multinic'))
    .filter(({ parentPath }) => basename(parentPath) !== 'backup')
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted();
  const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
  return Object.fromEntries(paths.map((path, at) => [path.slice(root.length), texts[at] ?? '']));
}
