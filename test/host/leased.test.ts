import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import type { JobRequest } from '../../src/api/job.ts';
import { request } from '../fixtures/agent-samples.ts';
import { FaultyBus } from '../fixtures/faulty-bus.ts';
import { nic, runAgent } from './agent-process.ts';
import { createFamilyHost } from './family-host.ts';

const mac = '02:00:00:00:01:05';
const wanted = nic(0, mac, '10.0.0.11/24', { gateway: '10.0.0.254' });
const requestWith = (more: Partial<JobRequest> = {}) =>
  request([wanted], { protocol: 2, family: 'keyfile', ...more });

/** Automatic profile by NetworkManager, kept until the next boot. */
const automatic = `[connection]
id=Wired connection 1
type=ethernet
autoconnect-priority=-999
interface-name=ens5
[ipv4]
method=auto
[.nmmeta]
nm-generated=true
`;

let host: NamespaceHost;
let bus: FaultyBus;
beforeEach(async () => {
  host = await createFamilyHost('leased', 'keyfile', { ens5: mac });
  const commands = [
    'link set dev ens5 up',
    'addr add 10.0.0.11/24 dev ens5 valid_lft 3600 preferred_lft 3600',
    'route add default via 10.0.0.254 dev ens5 proto dhcp metric 101',
  ];
  for (const command of commands) await host.ip(...command.split(' '));
  const profiles = join(host.root, 'run/NetworkManager/system-connections');
  await mkdir(profiles, { recursive: true });
  await writeFile(join(profiles, 'Wired connection 1.nmconnection'), automatic, { mode: 0o600 });
  await mkdir(join(host.root, 'run/dbus'), { recursive: true });
  bus = await FaultyBus.listen(join(host.root, 'run/dbus/system_bus_socket'));
  bus.mac = mac;
  bus.onDisconnected = async () => {
    // NetworkManager takes its time, and leaves existing state on a NIC told to be unmanaged.
    await setTimeout(300);
    if (bus.unmanaged.length === 0) await host.ip('addr', 'flush', 'dev', 'ens5');
  };
});
afterEach(async () => {
  await bus.close();
  await host.down();
});

const leased = (words: string) => [
  { reason: 'LeasedByHost', message: expect.stringContaining(words) as string },
];

describe('NIC leased by NetworkManager', () => {
  test('a leased NIC is configured after NetworkManager released it', async () => {
    const { result, stderr } = await runAgent(host, requestWith());
    expect(result, stderr).toMatchObject({
      outcome: 'ok',
      warnings: [],
      nics: [{ name: 'multinic0' }],
    });
    expect(bus.unmanaged).toHaveLength(1);
    expect(await host.ip('addr', 'show', 'dev', 'multinic0')).toContain('valid_lft forever');
    expect((await runAgent(host, requestWith({ attempt: 1 }))).result?.outcome).toBe('ok');
    expect(bus.unmanaged).toHaveLength(1);
  });

  test.each(['before 1', 'after 1', 'before 2', 'after 2'])(
    'a leased NIC is configured by the next agent run after a crash %s of a release call',
    async (phase) => {
      const killed = await runAgent(host, requestWith(), {
        killAt: `agent.manager.release ${phase}`,
      });
      expect(killed.result).toBeUndefined();
      const { result, stderr } = await runAgent(host, requestWith({ attempt: 1 }));
      expect(result, stderr).toMatchObject({ outcome: 'ok', nics: [{ name: 'multinic0' }] });
      expect(bus.unmanaged).not.toEqual([]);
    },
  );

  test('a leased NIC stays unchanged if NetworkManager refuses, and the result states the reason', async () => {
    bus.refuses = 'Disconnect';
    const before = await host.ip('-4', 'addr', 'show', 'dev', 'ens5');
    const { result } = await runAgent(host, requestWith());
    expect(result?.nics).toMatchObject(leased('AccessDenied'));
    expect((await host.ip('-4', 'addr', 'show', 'dev', 'ens5')).replace(/\d+sec/g, '')).toBe(
      before.replace(/\d+sec/g, ''),
    );
  });

  test('a NIC NetworkManager keeps despite a successful call is reported as LeasedByHost', async () => {
    bus.onDisconnected = () => undefined;
    const { result } = await runAgent(host, requestWith());
    expect(result?.nics).toMatchObject(
      leased('NetworkManager: ens5 still has its configuration after Disconnect'),
    );
    expect(bus.unmanaged).toEqual([]);
  });

  test('a NIC is reported as LeasedByHost if the bus hangs', async () => {
    bus.hangsAt = 'Get';
    const { result } = await runAgent(host, requestWith());
    expect(result?.nics).toMatchObject(leased('NetworkManager: no answer within 5 s'));
  });

  test('after a bus timeout for one NIC no further NIC is tried', async () => {
    const second = '02:00:00:00:01:06';
    await host.plug('ens6', second);
    for (const command of [
      'link set dev ens6 up',
      'addr add 10.1.0.11/24 dev ens6 valid_lft 3600 preferred_lft 3600',
    ])
      await host.ip(...command.split(' '));
    bus.hangsAt = 'Get';
    const interfaces = [wanted, nic(1, second, '10.1.0.11/24')];
    const { result, effects } = await runAgent(
      host,
      { ...requestWith(), interfaces },
      { traced: true },
    );
    const [expected] = leased('NetworkManager: no answer within 5 s');
    expect(result?.nics).toMatchObject([expected, expected]);
    expect(effects).toContain('agent.manager.release before 1');
    expect(effects).not.toContain('agent.manager.release before 2');
  });

  test('a NIC is reported as LeasedByHost if the agent has no bus', async () => {
    await bus.close();
    const { result } = await runAgent(host, requestWith());
    expect(result?.nics).toMatchObject(
      leased("the host's DHCP gave ens5 the address 10.0.0.11/24"),
    );
    expect(bus.unmanaged).toEqual([]);
  });

  test('NetworkManager is not called if the NIC would be refused anyway', async () => {
    await host.ip('addr', 'add', '10.9.9.9/24', 'dev', 'ens5');
    const { result } = await runAgent(host, requestWith());
    expect(result?.nics).toMatchObject(leased("the host's DHCP"));
    expect(bus.unmanaged).toEqual([]);
  });

  test('a check does not call NetworkManager', async () => {
    const { result } = await runAgent(host, requestWith({ protocol: 3, action: 'check' }));
    expect(result?.nics).toMatchObject(leased("the host's DHCP"));
    expect(bus.unmanaged).toEqual([]);
  });
});
