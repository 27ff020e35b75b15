import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Box } from '../../../rig/hosts/box/box.ts';
import { ip } from '../../../rig/hosts/namespace/command.ts';
import { profileUuid } from '../../../src/agent/backends/profile.ts';
import type { JobRequest } from '../../../src/api/job.ts';
import { request } from '../../fixtures/agent-samples.ts';
import { nic } from '../../host/agent-process.ts';
import { eventually } from '../../host/eventually.ts';
import { agentIn, boxForAgents } from './box-agent.ts';

const mac = '02:00:00:00:01:05';
const uuid = profileUuid({ mac, name: 'multinic0' });
const addresses = ['10.0.0.11/24', 'fd00::11/64'];
const wanted = nic(0, mac, '', {
  addresses,
  gateway: '10.0.0.254',
  gateway6: 'fd00::fe',
  routes: [{ to: '10.77.0.0/24', via: '10.0.0.253' }],
});

type Profile = 'netplan' | 'keyfile';

let box: Box;
let family: Profile;
let generation = 0;

async function boxWithNic(profile: Profile): Promise<void> {
  family = profile;
  generation = 0;
  box = await boxForAgents('commands', { suite: 'bookworm', profile });
  for (const cidr of ['10.0.0.254/24', 'fd00::fe/64', 'fd00:77::fe/64']) {
    await ip(['-n', box.fabric, 'addr', 'add', cidr, 'dev', 'br0', 'nodad']);
  }
  await box.plug('ens5', mac);
}

/** Returns the NIC's reason, with the message if present. */
async function answer(action: JobRequest['action'], mtu = wanted.mtu): Promise<string> {
  if (action !== 'check') generation += 1;
  const entries = action === 'cleanup' ? [] : [{ ...wanted, mtu }];
  const mayRemove = action === 'cleanup' ? [mac] : [];
  const asked = { protocol: 5 as const, family, generation, action, mayRemove };
  const { nics } = await agentIn(box, request(entries, asked));
  return nics.map(({ reason, message }) => `${reason} ${message}`.trim()).join();
}

const hasReason = (action: JobRequest['action'], reason: string) =>
  eventually(async () => expect(await answer(action)).toMatch(new RegExp(`^${reason}`)));

const defaultRoutes = async () =>
  (await box.sh(['sh', '-c', 'ip -4 route show default; ip -6 route show default'])).trim();

const onlyByNode = /^default via 10\.200\.0\.254 dev eth0.*$/;

/** Sends router advertisements with the prefix fd00:77::/64 to the box's NICs. */
function advertise(): AsyncDisposable {
  const server = ['dnsmasq', '--keep-in-foreground', '--conf-file=/dev/null', '--port=0'];
  const options = ['--leasefile-ro', '--dhcp-range=fd00:77::,ra-only,64', '--interface=br0'];
  const command = ['netns', 'exec', box.fabric, ...server, ...options, '--enable-ra'];
  const child = spawn('ip', command, { stdio: 'ignore' });
  const ended = once(child, 'exit');
  return {
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

const commandsOf: readonly (readonly [Profile, readonly string[]])[] = [
  [
    'netplan',
    [
      'netplan apply',
      'systemctl restart systemd-networkd',
      'networkctl reload && networkctl reconfigure multinic0',
    ],
  ],
  [
    'keyfile',
    [
      `nmcli connection reload && nmcli connection up uuid ${uuid}`,
      'nmcli networking off && nmcli networking on',
      'systemctl restart NetworkManager',
    ],
  ],
];

/** Commands that apply and removal must undo: the lost setting, and the evidence for the setting. */
const undone: readonly (readonly [string, string, readonly string[], string])[] = [
  [
    'routes that nmcli device reapply moves to main',
    'nmcli device reapply multinic0',
    ['ip', 'route', 'show', 'default'],
    'dev multinic0 proto static metric 101',
  ],
  [
    'an address that nmcli adds to its profile',
    `nmcli connection reload && nmcli connection modify uuid ${uuid} +ipv4.addresses 10.0.0.99/24 && nmcli connection up uuid ${uuid}`,
    ['ip', 'addr'],
    '10.0.0.99/24',
  ],
];

describe.each(commandsOf)('a NIC configured in this boot on a host of %s', (profile, commands) => {
  beforeAll(() => boxWithNic(profile));
  beforeEach(() => hasReason('apply', 'Configured'));
  afterAll(() => box.down());

  test.each(profile === 'keyfile' ? undone : [])(
    'removal clears %s',
    async (_, command, shown, evidence) => {
      for (const action of ['apply', 'cleanup'] as const) {
        await box.sh(['sh', '-c', command]);
        await eventually(async () => expect(await box.sh(shown)).toContain(evidence));
        expect(await answer('check')).toMatch(/^Drifted/);
        await hasReason(action, action === 'apply' ? 'Configured' : 'Removed');
        expect(await box.sh(shown)).not.toContain(evidence);
        expect(await defaultRoutes()).toMatch(onlyByNode);
      }
    },
  );

  test.each(commands)('a NIC is Configured again after %s', async (command) => {
    await box.sh(['sh', '-c', command]);
    await eventually(async () => {
      expect(await box.sh(['ip', '-d', 'rule'])).toMatch(/from 10.0.0.11 lookup 100 proto static/);
    });
    await hasReason('check', 'Configured');
    await box.sh(['ping', '-c1', '-W2', '-I', '10.0.0.11', '10.0.0.254']);
  });

  test('removal clears all settings from a router advertisement', async () => {
    const advertised = ['apply', 'change', 'cleanup'];
    for (const action of advertised) {
      await box.sh(['sysctl', '-qw', 'net.ipv6.conf.multinic0.accept_ra=2']);
      {
        await using _ = advertise();
        await eventually(async () => {
          expect(await defaultRoutes()).toMatch(/dev multinic0 proto ra/);
          const shown = await box.sh(['ip', '-6', 'addr', 'show', 'dev', 'multinic0']);
          expect(shown).toContain('fd00:77:');
        });
      }
      expect(await answer('check')).toMatch(/^Drifted/);
      if (action === 'cleanup') await hasReason('cleanup', 'Removed');
      else {
        expect(await answer('apply', action === 'change' ? 1400 : wanted.mtu)).toBe('Configured');
      }
      expect(await defaultRoutes()).toMatch(onlyByNode);
      expect(await box.sh(['ip', '-6', 'addr', 'show'])).not.toContain('fd00:77:');
    }
  });
});
