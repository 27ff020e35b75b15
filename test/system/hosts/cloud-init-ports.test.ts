import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { backends } from '../../../src/agent/backends/backends.ts';
import { withFound } from '../../../src/agent/planning/found.ts';
import type { ConfigFile } from '../../../src/agent/snapshot.ts';
import { emptyState } from '../../../src/agent/state.ts';
import type { FoundConfiguration } from '../../../src/api/found-configuration.ts';
import type { Family, NicResult } from '../../../src/api/job.ts';
import { entry, host, link, macOf, request } from '../../fixtures/agent-samples.ts';
import { type CloudImage, renderedByCloudInit } from '../../fixtures/cloud-init.ts';

const snippet = join(import.meta.dirname, '../../../docs/guides/snippets/cloud-init-network.cfg');
const nics = [3, 4, 5] as const;

/** Nova's metadata for a server with three ports at creation: static, DHCP, static. */
const networkData = {
  links: nics.map((n) => ({
    id: `ens${n}`,
    type: 'ovs',
    ethernet_mac_address: macOf(n),
    mtu: 1450,
    vif_id: `v${n}`,
  })),
  networks: [
    {
      id: 'network0',
      type: 'ipv4',
      link: 'ens3',
      network_id: 'n3',
      ip_address: '10.200.0.2',
      netmask: '255.255.0.0',
      routes: [{ network: '0.0.0.0', netmask: '0.0.0.0', gateway: '10.200.0.254' }],
    },
    { id: 'network1', type: 'ipv4_dhcp', link: 'ens4', network_id: 'n4' },
    {
      id: 'network2',
      type: 'ipv4',
      link: 'ens5',
      network_id: 'n5',
      ip_address: '10.0.0.5',
      netmask: '255.255.255.0',
      routes: [{ network: '0.0.0.0', netmask: '0.0.0.0', gateway: '10.0.0.254' }],
    },
  ],
  services: [{ type: 'dns', address: '10.200.0.53' }],
};

async function filesOf(image: CloudImage, family: Family, system?: string): Promise<ConfigFile[]> {
  const rendered = await renderedByCloudInit(image, networkData, system);
  const folders = backends[family].places.map(({ directory }) => `${directory}/`);
  const files = Object.entries(rendered).filter(([path]) =>
    folders.some((folder) => path.startsWith(folder)),
  );
  return Promise.all(
    files.map(([path, text]) => backends[family].read({ path, text, mode: 0o600 })),
  );
}

/** Configuration by other programs, by NIC name. */
function foundIn(files: readonly ConfigFile[]) {
  const on = host(
    nics.map((n) => link(n)),
    { files },
  );
  const results = nics.map((n) => ({ index: n, mac: macOf(n) }) as NicResult);
  const site = {
    request: request(nics.map((n) => entry(n))),
    state: emptyState,
    host: on,
    backend: {},
    bus: 'present' as const,
  };
  const found = withFound(results, site);
  return Object.fromEntries(found.map((nic) => [`ens${nic.index}`, nic.found]));
}

const file = (path: string, section: string, more: Partial<FoundConfiguration> = {}) => ({
  file: path,
  section,
  dhcp: false,
  ...more,
});
const nameServers = ['10.200.0.53'];
const keyfiles = '/etc/NetworkManager/system-connections';
const ifcfgs = '/etc/sysconfig/network-scripts';
const networkd = '/etc/systemd/network';

const images = [
  [
    'ubuntu',
    'netplan',
    {
      ens3: file('/etc/netplan/50-cloud-init.yaml', 'ethernets.ens3.addresses', { nameServers }),
      ens4: file('/etc/netplan/50-cloud-init.yaml', 'ethernets.ens4.dhcp4', { dhcp: true }),
      ens5: file('/etc/netplan/50-cloud-init.yaml', 'ethernets.ens5.addresses', { nameServers }),
    },
  ],
  [
    'enterprise-linux',
    'ifcfg',
    {
      ens3: file(`${ifcfgs}/ifcfg-ens3`, 'DEVICE=ens3 (IPADDR)'),
      ens4: file(`${ifcfgs}/ifcfg-ens4`, 'DEVICE=ens4 (BOOTPROTO)', { dhcp: true }),
      ens5: file(`${ifcfgs}/ifcfg-ens5`, 'DEVICE=ens5 (IPADDR)'),
    },
  ],
  [
    'enterprise-linux-10',
    'keyfile',
    {
      ens3: file(`${keyfiles}/cloud-init-ens3.nmconnection`, 'cloud-init ens3 (ipv4.method)'),
      ens4: file(`${keyfiles}/cloud-init-ens4.nmconnection`, 'cloud-init ens4 (ipv4.method)', {
        dhcp: true,
      }),
      ens5: file(`${keyfiles}/cloud-init-ens5.nmconnection`, 'cloud-init ens5 (ipv4.method)'),
    },
  ],
  [
    'networkd',
    'networkd',
    {
      ens3: file(`${networkd}/10-cloud-init-ens3.network`, '[Address] Address', { nameServers }),
      ens4: file(`${networkd}/10-cloud-init-ens4.network`, '[Network] DHCP', {
        dhcp: true,
        nameServers,
      }),
      ens5: file(`${networkd}/10-cloud-init-ens5.network`, '[Address] Address', { nameServers }),
    },
  ],
] as const satisfies readonly (readonly [CloudImage, Family, object])[];

describe.each(images)('a server with three ports at creation, image %s', (image, family, found) => {
  test('the agent recognises the stanza of each NIC', async () => {
    expect(foundIn(await filesOf(image, family))).toEqual(found);
  });

  test('the snippet for new nodes leaves all NICs but the first without configuration', async () => {
    const system = await readFile(snippet, 'utf8');
    const { ens3, ...others } = foundIn(await filesOf(image, family, system));
    expect(ens3).toMatchObject({ dhcp: true });
    expect(others).toEqual({ ens4: undefined, ens5: undefined });
    const texts = Object.entries(await renderedByCloudInit(image, networkData, system)).flat();
    for (const n of [4, 5]) {
      expect(texts.join('\n').toLowerCase()).not.toMatch(new RegExp(`ens${n}|${macOf(n)}`));
    }
  });
});
