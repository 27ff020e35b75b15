import { afterEach, describe, expect, test } from 'vitest';
import type { Box } from '../../../rig/hosts/box/box.ts';
import { request } from '../../fixtures/agent-samples.ts';
import { nic } from '../../host/agent-process.ts';
import { eventually } from '../../host/eventually.ts';
import { agentIn, boxForAgents } from './box-agent.ts';

const mac = '02:00:00:00:01:05';
const wanted = nic(0, mac, '10.0.0.11/24');
const suite = 'bookworm';

let box: Box;
afterEach(() => box.down());

async function stateOf(name: string): Promise<string> {
  const states = await box.sh(['nmcli', '-g', 'DEVICE,STATE', 'device']);
  return states.split('\n').find((line) => line.startsWith(`${name}:`)) ?? 'none';
}

/** Marks a NIC as unmanaged for NetworkManager, in the format of the profiles. */
const leavesAlone = {
  keyfile:
    'printf "[keyfile]\\nunmanaged-devices=interface-name:$1\\n" > /etc/NetworkManager/conf.d/20-alone.conf',
  ifcfg: 'echo NM_CONTROLLED=no >> /etc/sysconfig/network-scripts/ifcfg-$1',
} as const;

async function leaveAlone(profile: keyof typeof leavesAlone, name: string): Promise<void> {
  await box.sh(['sh', '-c', leavesAlone[profile], 'sh', name]);
}

describe('a host with unmanaged NICs in NetworkManager', () => {
  test('a NIC is configured, and the message states that the configuration ends with the next boot', async () => {
    const asked = request([wanted], { protocol: 2, family: 'keyfile' });
    box = await boxForAgents('left-alone', { suite, profile: 'keyfile' });
    await leaveAlone('keyfile', 'multinic*');
    await box.sh(['nmcli', 'general', 'reload']);
    await box.plug('ens5', mac);
    await eventually(async () => expect(await stateOf('ens5')).toBe('ens5:disconnected'));
    // NetworkManager may set the renamed NIC down while the agent runs; the controller then retries.
    let attempt = 0;
    await eventually(async () => {
      const result = await agentIn(box, { ...asked, attempt: attempt++ });
      expect(result).toMatchObject({ outcome: 'ok', family: 'keyfile' });
    });
    await eventually(async () => expect(await stateOf('multinic0')).toBe('multinic0:unmanaged'));
    const warnings = ['NotPersistent multinic0, NetworkManager is configured to ignore it'];
    const look = { ...asked, attempt, action: 'check' } as const;
    expect(await agentIn(box, look)).toMatchObject({ outcome: 'ok', warnings });
    await box.reboot();
    await eventually(async () => expect(await stateOf('multinic0')).toBe('multinic0:unmanaged'));
    expect(await agentIn(box, look)).toMatchObject({ nics: [{ reason: 'Drifted' }] });
    expect(await agentIn(box, { ...asked, attempt })).toMatchObject({ outcome: 'ok', warnings });
  });

  test.each(['keyfile', 'ifcfg'] as const)(
    "a host is not assigned to NetworkManager when the node's own NIC is unmanaged: %s",
    async (profile) => {
      box = await boxForAgents('not-its-own', { suite, profile });
      await leaveAlone(profile, 'eth0');
      await box.reboot();
      await eventually(async () => expect(await stateOf('eth0')).toBe('eth0:unmanaged'));
      await box.sh(['ip', 'addr', 'add', '10.200.0.2/16', 'dev', 'eth0']);
      await box.plug('ens5', mac);
      const protectedAddresses = ['10.200.0.2'];
      const asked = request([wanted], { protocol: 2, family: profile, protectedAddresses });
      const { outcome, nics } = await agentIn(box, asked);
      expect([outcome, nics[0]?.reason]).toEqual(['failed', 'WrongFamily']);
      expect(nics[0]?.message).toContain('NetworkManager is configured to ignore eth0');
    },
  );
});
