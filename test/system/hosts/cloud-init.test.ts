import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost, primary } from '../../../rig/hosts/namespace/host.ts';
import { hostMounts } from '../../../src/api/host-mounts.ts';
import type { Family } from '../../../src/api/job.ts';
import { request } from '../../fixtures/agent-samples.ts';
import { type CloudImage, renderedByCloudInit } from '../../fixtures/cloud-init.ts';
import { networkdLink, networkManagerLink } from '../../fixtures/recorded-managers.ts';
import { nic, runAgent } from '../../host/agent-process.ts';

const mac = '02:00:00:00:01:05';
const { address: ip, gateway } = primary;

/** Nova's metadata for a server with a single port: `openstack/latest/network_data.json`. */
const networkData = {
  links: [{ id: 'eth0', type: 'ovs', ethernet_mac_address: primary.mac, mtu: 1500, vif_id: 'v' }],
  networks: [
    {
      id: 'network0',
      type: 'ipv4',
      link: 'eth0',
      network_id: 'n',
      ip_address: ip,
      netmask: '255.255.0.0',
      routes: [{ network: '0.0.0.0', netmask: '0.0.0.0', gateway }],
    },
  ],
  services: [{ type: 'dns', address: '10.200.0.253' }],
};

let host: NamespaceHost;

beforeEach(async () => {
  host = await createHost('cloud-init', { nics: { ens5: mac } });
  await rm(join(host.root, 'etc/netplan/10-primary.yaml'));
  await rm(join(host.root, 'usr/lib/netplan'), { recursive: true });
});

afterEach(() => host.down());

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(host.root, path)), { recursive: true });
  await writeFile(join(host.root, path), text);
}

/** Writes the image's files below the host's root; returns their texts by path. */
async function bootAs(image: CloudImage, edit = (text: string) => text) {
  const files = Object.entries(await renderedByCloudInit(image, networkData));
  for (const [path, text] of files) await put(path, edit(text));
  return filesOf(files.map(([path]) => path));
}

async function filesOf(paths: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const texts = await Promise.all(paths.map((path) => readFile(join(host.root, path), 'utf8')));
  return Object.fromEntries(paths.map((path, at) => [path, texts[at] ?? '']));
}

/** What the image's network manager writes about the node's own NIC in /run. */
async function isManagedBy(
  manager: 'networkd' | 'NetworkManager',
  device: string = networkManagerLink.connected,
): Promise<void> {
  const [link] = (await host.ipJson('link', 'show', 'eth0')) as { readonly ifindex: number }[];
  const [path, text] =
    manager === 'networkd'
      ? [`run/systemd/netif/links/${link?.ifindex}`, networkdLink.trixie]
      : [`run/NetworkManager/devices/${link?.ifindex}`, device];
  await put(path, text);
  // The kubelet creates missing hostPath folders for the Pod.
  const mounts = [...hostMounts.keyfile, ...hostMounts.ifcfg, ...hostMounts.netplan];
  for (const { path: folder, type } of mounts) {
    if (type === 'DirectoryOrCreate') await mkdir(join(host.root, folder), { recursive: true });
  }
}

/** Red Hat's build of cloud-init leaves this line out (canonical/cloud-init issue 3781). */
const managed = (text: string) => text.replace('NM_CONTROLLED=no\n', '');
const same = (text: string) => text;

describe.each([
  ['Ubuntu', 'ubuntu', same, 'networkd', 'netplan', '/etc/netplan/90-multinic0.yaml'],
  [
    'Enterprise Linux 8 and 9 with ifcfg files',
    'enterprise-linux',
    managed,
    'NetworkManager',
    'ifcfg',
    '/etc/sysconfig/network-scripts/ifcfg-multinic0',
  ],
  [
    'Enterprise Linux 9 and 10 with keyfiles',
    'enterprise-linux-10',
    same,
    'NetworkManager',
    'keyfile',
    '/etc/NetworkManager/system-connections/90-multinic0.nmconnection',
  ],
] as const)('a host with network files for %s', (_, image, edit, manager, family: Family, main) => {
  test('the agent adds and removes a NIC in files of the network manager; files of cloud-init stay unchanged', async () => {
    if (image === 'ubuntu') await mkdir(join(host.root, 'usr/lib/netplan'), { recursive: true });
    const files = await bootAs(image, edit);
    await isManagedBy(manager);
    const wanted = [nic(0, mac, '10.0.0.11/16')];
    // The first agent run detects the network manager, and the second run uses the manager's folders.
    const first = await runAgent(host, request(wanted, { protocol: 2 }));
    expect(first.result).toMatchObject({ family });
    const second = await runAgent(host, request(wanted, { protocol: 2, family, attempt: 2 }));
    expect(second.result).toMatchObject({
      outcome: 'ok',
      family,
      nics: [{ name: 'multinic0' }],
      warnings: [],
    });
    expect(await readFile(join(host.root, main), 'utf8')).toMatch(/10\.0\.0\.11/);
    expect(await filesOf(Object.keys(files))).toEqual(files);
    const cleanup = request([], { protocol: 2, family, action: 'cleanup', generation: 2 });
    expect((await runAgent(host, cleanup)).result).toMatchObject({ outcome: 'ok' });
    await expect(readFile(join(host.root, main))).rejects.toThrow('ENOENT');
    expect(await filesOf(Object.keys(files))).toEqual(files);
  });
});

test('a host with NM_CONTROLLED=no from upstream cloud-init is left alone: NetworkManager does not manage it', async () => {
  const files = await bootAs('enterprise-linux');
  await isManagedBy('NetworkManager', networkManagerLink.left);
  const { result } = await runAgent(host, request([nic(0, mac, '10.0.0.11/16')], { protocol: 2 }));
  expect(result).toMatchObject({ outcome: 'failed', nics: [{ reason: 'WrongFamily' }] });
  expect(await filesOf(Object.keys(files))).toEqual(files);
});
