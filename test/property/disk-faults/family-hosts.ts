import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hostMounts } from '../../../src/api/host-mounts.ts';
import type { Family } from '../../../src/api/job.ts';
import { networkdLink, networkManagerLink } from '../../fixtures/recorded-managers.ts';

const byNetworkManager = {
  'etc/NetworkManager/system-connections/eth0.nmconnection':
    '[connection]\nid=eth0\ntype=ethernet\ninterface-name=eth0\n',
};

/** Files of others that say what a host is, by family; `PRIMARY` is the index of its own NIC. */
const marks: Readonly<Record<Family, Readonly<Record<string, string>>>> = {
  netplan: {
    'etc/netplan/60-storage.yaml': 'network: {version: 2, ethernets: {storage0: {dhcp4: true}}}\n',
  },
  networkd: {
    'run/systemd/netif/links/PRIMARY': networkdLink.bookwormOwn,
    'etc/systemd/network/50-eth0.network': '[Match]\nName=eth0\n[Network]\nDHCP=yes\n',
  },
  keyfile: {
    'run/NetworkManager/devices/PRIMARY': networkManagerLink.connected,
    ...byNetworkManager,
  },
  ifcfg: {
    'run/NetworkManager/devices/PRIMARY': networkManagerLink.connected,
    'etc/sysconfig/network-scripts/ifcfg-eth0': 'TYPE=Ethernet\nDEVICE=eth0\nONBOOT=yes\n',
  },
};

/** On every host: settings of an administrator. */
const everywhere = { 'etc/sysctl.d/99-site.conf': 'net.ipv4.ip_forward = 1\n' };

/** Makes the host under this directory one of the family, with what the kubelet makes for the Pod. */
export function makeFamily(root: string, family: Family, primaryIndex: number): void {
  for (const { path, type } of hostMounts[family]) {
    if (type === 'DirectoryOrCreate') mkdirSync(join(root, path), { recursive: true });
  }
  for (const [path, text] of Object.entries({ ...marks[family], ...everywhere })) {
    const real = join(root, path.replace('PRIMARY', String(primaryIndex)));
    mkdirSync(dirname(real), { recursive: true });
    writeFileSync(real, text, { mode: 0o600 });
  }
}

/** udev is on the host: it gives each NIC that is renamed the name of its slot beside the new one. */
export function addUdev(root: string): void {
  const directory = join(root, 'usr/lib/systemd');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'systemd-udevd'), '');
}
