import { afterEach, expect, test } from 'vitest';
import type { Box } from '../../../rig/hosts/box/box.ts';
import { request } from '../../fixtures/agent-samples.ts';
import { nic } from '../../host/agent-process.ts';
import { eventually } from '../../host/eventually.ts';
import { agentIn, boxForAgents } from './box-agent.ts';

const mac = '02:00:00:00:01:05';
const suite = 'bookworm';

let box: Box;
afterEach(() => box.down());

async function stateOf(name: string): Promise<string> {
  const states = await box.sh(['nmcli', '-g', 'DEVICE,STATE,CONNECTION', 'device']);
  return states.split('\n').find((line) => line.startsWith(`${name}:`)) ?? 'none';
}

/** Resolves to the agent's result for the NIC after NetworkManager has reloaded profiles and reports this state. */
async function answerIn(family: 'keyfile' | 'ifcfg', state: string) {
  await box.sh(['nmcli', 'connection', 'reload']);
  await box.plug('ens5', mac);
  await eventually(async () => expect(await stateOf('ens5')).toBe(`ens5:${state}`));
  const asked = request([nic(0, mac, '10.0.0.11/24')], { protocol: 2, family });
  return (await agentIn(box, asked)).nics[0];
}

test('a NIC is not taken from a profile without interface name, which NetworkManager applies to every NIC', async () => {
  box = await boxForAgents('profile-of-all', { suite, profile: 'ifcfg' });
  const path = '/etc/sysconfig/network-scripts/ifcfg-any';
  await box.sh(['sh', '-c', `printf "TYPE=Ethernet\\nBOOTPROTO=dhcp\\nNAME=any\\n" > ${path}`]);
  // No DHCP server answers, so no address identifies the owner.
  const found = await answerIn('ifcfg', 'connecting (getting IP configuration):any');
  expect(found).toMatchObject({ reason: 'LeasedByHost' });
  expect(found?.message).toContain(path);
  expect(await stateOf('ens5')).toContain('any');
});

test('a copy of a profile that NetworkManager ignores does not block a NIC', async () => {
  box = await boxForAgents('profile-copy', { suite, profile: 'keyfile' });
  const said = '[connection]\\nid=x\\ntype=ethernet\\ninterface-name=ens5\\n';
  const path = '/etc/NetworkManager/system-connections/ens5.nmconnection.backup';
  await box.sh(['sh', '-c', `printf "${said}" > ${path}; chmod 600 ${path}`]);
  expect(await answerIn('keyfile', 'disconnected:')).toMatchObject({ reason: 'Configured' });
});
