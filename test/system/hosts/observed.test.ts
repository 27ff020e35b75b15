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

const mac = '02:00:00:00:01:05';
const present = '10.0.0.50/16';
const wanted = nic(0, mac, '10.0.0.11/16', { gateway: '10.0.0.254' });

/** Nova's metadata for the additional port: static, with another address than the requested one. */
const networkData = {
  links: [{ id: 'ens5', type: 'ovs', ethernet_mac_address: mac, mtu: 1500, vif_id: 'v' }],
  networks: [
    {
      id: 'network1',
      type: 'ipv4',
      link: 'ens5',
      network_id: 'n',
      ip_address: '10.0.0.50',
      netmask: '255.255.0.0',
    },
  ],
  services: [],
};

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

describe('a host that never had an agent', () => {
  test.each(hosts)(
    'a check on %s writes no file, changes no kernel state, and reports the file of the NIC',
    async (profile, image, path, section) => {
      box = await boxForAgents(`observed-${profile}`, { suite: 'bookworm', profile });
      await box.plug('ens5', mac);
      const { [path]: text = '' } = await renderedByCloudInit(image, networkData);
      // Red Hat's build of cloud-init leaves this line out.
      const managed = text.replace('NM_CONTROLLED=no\n', '');
      const mode = profile === 'networkd' ? 0o644 : 0o600;
      await box.sh(['mkdir', '-p', dirname(path)]);
      await writeFile(join(await box.root(), path), managed, { mode });
      await box.reboot();
      const { netns } = box;
      await eventually(async () => {
        expect(await ip(['-n', netns, '-4', 'addr', 'show', 'dev', 'ens5'])).toContain(present);
      });
      using events = new KernelEvents([{ name: profile, host: box }]);
      await events.untilSilent();
      const before = [await disk(box), [...events.lines]];
      const asked = request([wanted], { protocol: 5, family: profile, action: 'check' });
      expect(await agentIn(box, asked)).toMatchObject({
        nics: [
          {
            reason: 'NICInUse',
            message: expect.stringContaining(`${section} configures the NIC`) as string,
            found: { file: path, section, dhcp: false, addresses: [present] },
          },
        ],
      });
      await events.untilSilent();
      expect([await disk(box), events.lines]).toEqual(before);
    },
  );
});
