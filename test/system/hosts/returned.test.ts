import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Box } from '../../../rig/hosts/box/box.ts';
import { request } from '../../fixtures/agent-samples.ts';
import { nic } from '../../host/agent-process.ts';
import { eventually } from '../../host/eventually.ts';
import { agentIn, boxForAgents } from './box-agent.ts';

const mac = '02:00:00:00:01:05';
const wanted = request([nic(0, mac, '10.0.0.11/24')]);
const none = request([], { generation: 2 });

let box: Box;
beforeAll(async () => {
  box = await boxForAgents('returned', { suite: 'bookworm', profile: 'netplan' });
});
afterAll(() => box.down());

/** Names and IPv4 addresses of all links, a line each. */
function addresses(): Promise<string> {
  return box.sh(['ip', '-br', '-4', 'addr', 'show']);
}

async function plugAgain(): Promise<void> {
  await box.plug('ens5', mac);
  await eventually(async () => expect(await addresses()).toMatch(/^multinic0\S* .*10\.0\.0\.11/m));
}

test('a NIC removed while unplugged loses the boot-time netplan state', async () => {
  await box.plug('ens5', mac);
  expect(await agentIn(box, wanted)).toMatchObject({ outcome: 'ok' });
  await box.reboot();
  await eventually(async () => expect(await addresses()).toMatch(/^multinic0\S* .*10\.0\.0\.11/m));
  expect(await agentIn(box, { ...wanted, attempt: 1 })).toMatchObject({ outcome: 'ok' });
  await box.unplug('ens5');
  const gone = await agentIn(box, none);
  expect(gone).toMatchObject({ outcome: 'ok', nics: [{ mac, reason: 'Removed' }] });
  for (const attempt of [1, 2]) {
    await plugAgain();
    const look = await agentIn(box, { ...none, action: 'check' });
    expect(look).toMatchObject({ outcome: 'failed', nics: [{ mac, reason: 'Drifted' }] });
    const cleaned = await agentIn(box, { ...none, attempt });
    expect(cleaned).toMatchObject({ outcome: 'ok', nics: [{ mac, name: 'ens5' }] });
    expect(await addresses()).not.toMatch(/multinic0|10\.0\.0\.11/);
    expect(await box.sh(['ip', 'rule', 'show'])).not.toContain('10.0.0.11');
    const right = await agentIn(box, { ...none, action: 'check' });
    expect(right).toMatchObject({ outcome: 'ok', nics: [] });
    await box.unplug('ens5');
  }
});

test('a NIC removed while unplugged loses state from netplan apply', async () => {
  await box.plug('ens5', mac);
  expect(await agentIn(box, { ...wanted, generation: 3 })).toMatchObject({ outcome: 'ok' });
  await box.sh(['netplan', 'apply']);
  // udev looks by itself once in three seconds at most.
  await box.sh(['sh', '-c', 'udevadm control --reload; networkctl reload']);
  await box.unplug('ens5');
  const later = { ...none, generation: 4 };
  expect(await agentIn(box, later)).toMatchObject({ nics: [{ mac, reason: 'Removed' }] });
  await plugAgain();
  const cleaned = await agentIn(box, { ...later, attempt: 1 });
  expect(cleaned).toMatchObject({ outcome: 'ok', nics: [{ mac, name: 'ens5' }] });
  expect(await addresses()).not.toMatch(/multinic0|10\.0\.0\.11/);
});
