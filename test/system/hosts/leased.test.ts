import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Box, BoxKind } from '../../../rig/hosts/box/box.ts';
import type { JobResult } from '../../../src/api/job.ts';
import { request } from '../../fixtures/agent-samples.ts';
import { nic } from '../../host/agent-process.ts';
import { eventually } from '../../host/eventually.ts';
import { agentIn, boxForAgents } from './box-agent.ts';
import { startDhcp } from './dhcp-server.ts';

const kind = { suite: 'bookworm', profile: 'keyfile' } as const satisfies BoxKind;
const mac = '02:00:00:00:01:05';

let box: Box;
beforeAll(async () => {
  box = await boxForAgents('leased', kind);
});
afterAll(() => box.down());

function agent(attempt: number, of = mac): Promise<JobResult> {
  const wanted = nic(0, of, '10.0.0.11/24', { gateway: '10.0.0.254' });
  return agentIn(box, request([wanted], { protocol: 2, family: 'keyfile', attempt }));
}

async function stateOf(name: string): Promise<string> {
  const states = await box.sh(['nmcli', '-g', 'DEVICE,STATE', 'device']);
  return states.split('\n').find((line) => line.startsWith(`${name}:`)) ?? 'none';
}

const addresses = async (name: string) => box.sh(['ip', '-4', 'addr', 'show', 'dev', name]);

test('a NIC leased by a foreign DHCP client stays unchanged, although NetworkManager shows the NIC as external', async () => {
  const theirs = '02:00:00:00:01:06';
  await box.plug('ens6', theirs);
  // A DHCP client outside NetworkManager.
  const lease = 'valid_lft 3600 preferred_lft 3600';
  await box.sh(['sh', '-c', `ip link set ens6 up; ip addr add 10.0.0.11/24 dev ens6 ${lease}`]);
  await eventually(async () => expect(await stateOf('ens6')).toBe('ens6:connected (externally)'));
  const { nics } = await agent(1, theirs);
  expect(nics).toMatchObject([
    {
      reason: 'LeasedByHost',
      message: expect.stringContaining('mirrors foreign configuration') as string,
    },
  ]);
  expect(await addresses('ens6')).toContain('inet 10.0.0.11/24');
  expect(await stateOf('ens6')).toBe('ens6:connected (externally)');
  await box.unplug('ens6');
});

test('NetworkManager releases a NIC with an automatic profile until the next boot', async () => {
  await using server = await startDhcp(box.fabric);
  expect(server.pid).toBeGreaterThan(0);
  await box.sh(['sh', '-c', 'rm /etc/NetworkManager/conf.d/10-box.conf; nmcli general reload']);
  await box.plug('ens5', mac);
  await eventually(async () => expect(await addresses('ens5')).toContain('dynamic'));
  const result = await agent(1);
  expect(result).toMatchObject({ outcome: 'ok', nics: [{ name: 'multinic0' }] });
  expect(await stateOf('multinic0')).toBe('multinic0:unmanaged');
  expect(await addresses('multinic0')).toContain('inet 10.0.0.11/24');
  expect(await addresses('multinic0')).not.toContain('dynamic');
  expect(await box.sh(['ip', 'route', 'show', 'default'])).not.toContain('multinic0');
  expect((await agent(2)).outcome).toBe('ok');
  await box.reboot();
  await eventually(async () => expect(await stateOf('multinic0')).toBe('multinic0:connected'));
  expect(await addresses('multinic0')).toContain('inet 10.0.0.11/24');
  expect(await addresses('multinic0')).not.toContain('dynamic');
  expect(await box.sh(['ip', 'rule'])).toContain('from 10.0.0.11 lookup 100');
});
