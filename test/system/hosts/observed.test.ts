import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Box, BoxKind } from '../../../rig/hosts/box/box.ts';
import { ip } from '../../../rig/hosts/namespace/command.ts';
import { request } from '../../fixtures/agent-samples.ts';
import { KernelEvents } from '../../fixtures/kernel-events.ts';
import { nic } from '../../host/agent-process.ts';
import { eventually } from '../../host/eventually.ts';
import { agentIn, boxForAgents } from './box-agent.ts';

const mac = '02:00:00:00:01:05';
/** The NIC is static in the files of cloud-init, with another address than the requested one. */
const present = '10.0.0.50/16';
const wanted = nic(0, mac, '10.0.0.11/16', { gateway: '10.0.0.254' });

const networkd = `[Match]\nMACAddress=${mac}\n\n[Network]\nDHCP=no\n\n[Address]\nAddress=${present}\n`;
const keyfile = `[connection]
id=cloud-init ens5
uuid=5b1f5e5c-3a0e-4f2d-9d0e-2c4b6a7f8e90
autoconnect-priority=120
type=ethernet

[ethernet]
mac-address=${mac}

[ipv4]
method=manual
address1=${present}
`;
const ifcfg = `BOOTPROTO=none\nDEVICE=ens5\nHWADDR=${mac}\nIPADDR=10.0.0.50\nPREFIX=16\nONBOOT=yes\nTYPE=Ethernet\nUSERCTL=no\n`;
const netplan = `network:
  version: 2
  ethernets:
    ens5:
      addresses: ["${present}"]
      match: {macaddress: "${mac}"}
      set-name: ens5
`;

const hosts: readonly (readonly [BoxKind['profile'], string, string, string])[] = [
  ['netplan', '/etc/netplan/50-cloud-init.yaml', netplan, 'ethernets.ens5.addresses'],
  ['networkd', '/etc/systemd/network/10-cloud-init-ens5.network', networkd, '[Address] Address'],
  [
    'keyfile',
    '/etc/NetworkManager/system-connections/cloud-init-ens5.nmconnection',
    keyfile,
    'cloud-init ens5 (ipv4.method)',
  ],
  ['ifcfg', '/etc/sysconfig/network-scripts/ifcfg-ens5', ifcfg, 'DEVICE=ens5 (IPADDR)'],
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
    async (profile, path, text, section) => {
      box = await boxForAgents(`observed-${profile}`, { suite: 'bookworm', profile });
      await box.plug('ens5', mac);
      const root = await box.root();
      await box.sh(['mkdir', '-p', dirname(path)]);
      await writeFile(join(root, path), text, { mode: profile === 'networkd' ? 0o644 : 0o600 });
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
