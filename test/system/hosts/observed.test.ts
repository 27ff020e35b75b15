import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Box, BoxKind } from '../../../rig/hosts/box/box.ts';
import { ip } from '../../../rig/hosts/namespace/command.ts';
import { request } from '../../fixtures/agent-samples.ts';
import { type CloudImage, renderedByCloudInit } from '../../fixtures/cloud-init.ts';
import { KernelEvents } from '../../fixtures/kernel-events.ts';
import { nic } from '../../host/agent-process.ts';
import { eventually } from '../../host/eventually.ts';
import { agentIn, boxForAgents } from './box-agent.ts';
import { startDhcp } from './dhcp-server.ts';

const mac = '02:00:00:00:01:05';
const present = '10.0.0.50/16';
const wanted = nic(0, mac, '10.0.0.11/16', { gateway: '10.0.0.254' });

/** Nova's metadata for the additional port. */
const dataOf = (network: object) => ({
  links: [{ id: 'ens5', type: 'ovs', ethernet_mac_address: mac, mtu: 1500, vif_id: 'v' }],
  networks: [{ id: 'network1', link: 'ens5', network_id: 'n', ...network }],
  services: [],
});

/** Static, with another address than the requested one. */
const fixed = dataOf({ type: 'ipv4', ip_address: '10.0.0.50', netmask: '255.255.0.0' });
const leased = dataOf({ type: 'ipv4_dhcp' });

const hosts: readonly (readonly [BoxKind['profile'], CloudImage, string, string])[] = [
  ['netplan', 'ubuntu', '/etc/netplan/50-cloud-init.yaml', 'ethernets.ens5.addresses'],
  ['networkd', 'networkd', '/etc/systemd/network/10-cloud-init-ens5.network', '[Address] Address'],
  [
    'keyfile',
    'enterprise-linux-10',
    '/etc/NetworkManager/system-connections/cloud-init-ens5.nmconnection',
    'cloud-init ens5 (ipv4.method)',
  ],
  [
    'ifcfg',
    'enterprise-linux',
    '/etc/sysconfig/network-scripts/ifcfg-ens5',
    'DEVICE=ens5 (IPADDR)',
  ],
];

let box: Box | undefined;
afterEach(async () => {
  await box?.down();
  box = undefined;
});

/**
 * Inode, size, mode, owner and times of every file, without logs and the test's own files. A command in a box changes the
 * root folder's ctime.
 */
async function disk(on: Box): Promise<readonly string[]> {
  const leftOut = ['/proc', '/sys', '/dev', '/root', '/opt/multinic', '/var/log', '/run/log'];
  const prune = leftOut.flatMap((path, at) => [...(at > 0 ? ['-o'] : []), '-path', path]);
  const format = '%p %i %s %m %U %T@ %C@\n';
  const said = await on.sh([
    'find',
    '/',
    '-mindepth',
    '1',
    '(',
    ...prune,
    ')',
    '-prune',
    '-o',
    '-printf',
    format,
  ]);
  return said.split('\n').toSorted();
}

/** Boots a box with the additional NIC in cloud-init's file, and waits for the NIC's address. */
async function bootWith(
  [profile, image, path]: (typeof hosts)[number],
  networkData: object,
): Promise<Box> {
  const on = await boxForAgents(`observed-${profile}`, { suite: 'bookworm', profile });
  box = on;
  await on.plug('ens5', mac);
  const { [path]: text = '' } = await renderedByCloudInit(image, networkData);
  // Red Hat's build of cloud-init leaves this line out.
  const managed = text.replace('NM_CONTROLLED=no\n', '');
  const mode = profile === 'networkd' ? 0o644 : 0o600;
  await on.sh(['mkdir', '-p', dirname(path)]);
  await writeFile(join(await on.root(), path), managed, { mode });
  return on;
}

async function untilAddressed({ netns }: Box, address: RegExp): Promise<void> {
  await eventually(async () => {
    expect(await ip(['-n', netns, '-4', 'addr', 'show', 'dev', 'ens5'])).toMatch(address);
  });
}

const checkOf = (family: BoxKind['profile']) =>
  request([wanted], { protocol: 5, family, action: 'check' });

describe('a host that never had an agent', () => {
  test.each(hosts)(
    'a check on %s writes no file, changes no kernel state, and reports the file of the NIC',
    async (...on) => {
      const [profile, , path, section] = on;
      const booted = await bootWith(on, fixed);
      await booted.reboot();
      await untilAddressed(booted, /10\.0\.0\.50/);
      using events = new KernelEvents([{ name: profile, host: booted }]);
      await events.untilSilent();
      const before = [await disk(booted), [...events.lines]];
      expect(await agentIn(booted, checkOf(profile))).toMatchObject({
        nics: [
          {
            reason: 'NICInUse',
            message: expect.stringContaining(`${section} configures the NIC`) as string,
            found: { file: path, section, dhcp: false, addresses: [present] },
          },
        ],
      });
      await events.untilSilent();
      expect([await disk(booted), events.lines]).toEqual(before);
    },
  );

  test.each([
    [hosts[0], 'ethernets.ens5.dhcp4', ['10.0.0.53']],
    // NetworkManager's files about links have no name servers.
    [hosts[2], 'cloud-init ens5 (ipv4.method)', undefined],
  ])('a check reports the lease of a NIC: %o', async (on, section, nameServers) => {
    if (!on) throw new Error('no such host');
    const booted = await bootWith(on, leased);
    await using server = await startDhcp(booted.fabric, ['--dhcp-option=6,10.0.0.53']);
    expect(server.pid).toBeGreaterThan(0);
    await booted.reboot();
    await untilAddressed(booted, /dynamic/);
    const [profile, , path] = on;
    const { nics } = await agentIn(booted, checkOf(profile));
    // NetworkManager may activate this NIC before the node's own NIC, with the better metric.
    expect(nics[0]?.reason).toMatch(/^(LeasedByHost|PrimaryNIC)$/);
    expect(nics[0]?.message).toContain(`${section} configures the NIC; `);
    expect(nics[0]?.found).toEqual({
      file: path,
      section,
      dhcp: true,
      // The lease brings the only name server of this host.
      adoption: 'OnlyNameServers',
      addresses: [expect.stringMatching(/^10\.0\.0\.\d+\/24$/)],
      // networkd also adds host routes to router and name server.
      routes: expect.arrayContaining(['0.0.0.0/0 10.0.0.254']) as string[],
      ...(nameServers ? { nameServers } : {}),
    });
  });
});
