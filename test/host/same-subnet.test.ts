import { afterEach, describe, expect, test } from 'vitest';
import { ip as runIp } from '../../rig/hosts/namespace/command.ts';
import { createHost, type NamespaceHost, primary } from '../../rig/hosts/namespace/host.ts';
import { macOf, request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { eventually } from './eventually.ts';
import { stateOf } from './host-state.ts';
import { answererOf, answerOf } from './traffic.ts';

const gateway = '10.0.0.254';
const several = (count: number) =>
  Array.from({ length: count }, (_, n) => nic(n, macOf(n + 1), `10.0.0.${n + 1}/16`, { gateway }));

const hosts: NamespaceHost[] = [];
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.down();
});

async function hostWith(name: string, count: number): Promise<NamespaceHost> {
  const nics = several(count).map(({ mac }, n) => [`ens${n}`, mac] as const);
  const host = await createHost(name, { nics: Object.fromEntries(nics) });
  hosts.push(host);
  return host;
}

async function configure(host: NamespaceHost, ...asked: Parameters<typeof request>): Promise<void> {
  const { result, stderr } = await runAgent(host, request(...asked));
  expect(result?.outcome, stderr).toBe('ok');
}

describe('NICs in one subnet', () => {
  test('[RW-41] NICs in one subnet each answer for their own traffic and address, and the default route stays', async () => {
    const host = await hostWith('subnet-three', 3);
    const defaultRoutes = () => host.ip('route', 'show', 'default');
    const before = await defaultRoutes();
    await configure(host, several(3));
    for (const [index, { mac, addresses }] of several(3).entries()) {
      const [address = ''] = (addresses[0] ?? '').split('/');
      const way = await host.ipJson('route', 'get', '192.0.2.9', 'from', address);
      expect(way).toMatchObject([{ dev: `multinic${index}`, gateway }]);
      expect(await answerOf(host, gateway, address)).toBe('hello');
      expect(await answererOf(host, address)).toBe(mac);
    }
    expect(await defaultRoutes()).toBe(before);
    const out = await host.ipJson('route', 'get', '192.0.2.9');
    expect(out).toMatchObject([{ dev: 'eth0', gateway: primary.gateway }]);
  });

  test('[RW-43] NICs configured together or one by one reach the same state', async () => {
    const [together, apart] = [await hostWith('at-once', 4), await hostWith('one-by-one', 4)];
    await configure(together, several(4));
    for (let count = 1; count <= 4; count++) {
      await configure(apart, several(count), { generation: count });
    }
    expect(await stateOf(apart)).toEqual(await stateOf(together));
  });
});

test('[RW-34] a new prefix for the same address replaces the old prefix without leftovers', async () => {
  const [changed, fresh] = [await hostWith('prefix', 1), await hostWith('prefix-fresh', 1)];
  const narrow = nic(0, macOf(1), '10.0.0.1/24', { gateway });
  await configure(changed, several(1));
  await configure(changed, [narrow], { generation: 2 });
  await configure(fresh, [narrow]);
  expect(JSON.stringify(await stateOf(changed))).not.toMatch(/10\.0\.0\.(0|1)\/16/);
  expect(await stateOf(changed)).toEqual(await stateOf(fresh));
});

test('[RW-38] a NIC without a carrier is configured, and works once the carrier comes', async () => {
  const host = await hostWith('carrier', 1);
  const cable = ['-n', host.fabric, 'link', 'set', 'dev', `sw${macOf(1).replaceAll(':', '')}`];
  await runIp([...cable, 'down']);
  await configure(host, several(1));
  expect(await host.ip('link', 'show', 'dev', 'multinic0')).toContain('NO-CARRIER');
  await runIp([...cable, 'up']);
  await eventually(async () => expect(await answerOf(host, gateway, '10.0.0.1')).toBe('hello'));
});
