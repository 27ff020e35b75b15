import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Box, BoxKind } from '../../../rig/hosts/box/box.ts';
import { request } from '../../fixtures/agent-samples.ts';
import { nic } from '../../host/agent-process.ts';
import { eventually } from '../../host/eventually.ts';
import { agentIn, boxForAgents } from './box-agent.ts';

const mac = '02:00:00:00:01:05';
const present = '10.0.0.50/16';
const wanted = nic(0, mac, '10.0.0.11/16');

/** Path, text with the NIC, and text without the NIC; undefined: the file is removed. */
type Row = readonly [BoxKind['profile'], string, string, string | undefined];

/** Files as cloud-init's renderers write them, and the change that docs/guides/existing-nics.md describes. */
const hosts: readonly Row[] = [
  [
    'netplan',
    '/etc/netplan/50-cloud-init.yaml',
    `network:
  version: 2
  ethernets:
    ens5:
      addresses: ["${present}"]
      match: {macaddress: "${mac}"}
      set-name: ens5
`,
    'network:\n  version: 2\n',
  ],
  [
    'networkd',
    '/etc/systemd/network/10-cloud-init-ens5.network',
    `[Match]\nMACAddress=${mac}\n\n[Network]\nDHCP=no\n\n[Address]\nAddress=${present}\n`,
    undefined,
  ],
  [
    'keyfile',
    '/etc/NetworkManager/system-connections/cloud-init-ens5.nmconnection',
    `[connection]
id=cloud-init ens5
uuid=5b1f5e5c-3a0e-4f2d-9d0e-2c4b6a7f8e90
autoconnect-priority=120
type=ethernet

[ethernet]
mac-address=${mac}

[ipv4]
method=manual
address1=${present}
`,
    undefined,
  ],
  [
    'ifcfg',
    '/etc/sysconfig/network-scripts/ifcfg-ens5',
    `BOOTPROTO=none\nDEVICE=ens5\nHWADDR=${mac}\nIPADDR=10.0.0.50\nPREFIX=16\nONBOOT=yes\nTYPE=Ethernet\nUSERCTL=no\n`,
    undefined,
  ],
];

let box: Box | undefined;
afterEach(async () => {
  await box?.down();
  box = undefined;
});

describe('a NIC in a file of cloud-init', () => {
  test.each(hosts)(
    'is refused on %s, and is configured after the file is changed and the host has rebooted',
    async (profile, path, text, released) => {
      const host = await boxForAgents(`released-${profile}`, { suite: 'bookworm', profile });
      box = host;
      const addresses = async () => host.sh(['ip', '-o', '-4', 'addr']);
      const write = async (content: string) =>
        writeFile(join(await host.root(), path), content, {
          mode: profile === 'networkd' ? 0o644 : 0o600,
        });
      await host.plug('ens5', mac);
      await host.sh(['mkdir', '-p', dirname(path)]);
      await write(text);
      await host.reboot();
      await eventually(async () => expect(await addresses()).toContain(present));
      const asked = request([wanted], { protocol: 2, family: profile });
      expect(await agentIn(host, asked)).toMatchObject({ nics: [{ reason: 'NICInUse' }] });
      if (released === undefined) await host.sh(['rm', path]);
      else await write(released);
      await host.reboot();
      const again = await agentIn(host, { ...asked, attempt: 2 });
      expect(again).toMatchObject({ outcome: 'ok', nics: [{ name: 'multinic0' }] });
      await host.reboot();
      await eventually(async () =>
        expect(await addresses()).toMatch(/multinic0 +inet 10\.0\.0\.11/),
      );
      expect(await addresses()).not.toContain(present);
    },
  );
});
