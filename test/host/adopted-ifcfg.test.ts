import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import type { JobRequest } from '../../src/api/job.ts';
import { request } from '../fixtures/agent-samples.ts';
import { FaultyBus } from '../fixtures/faulty-bus.ts';
import { nic, type RunOptions, runAgent } from './agent-process.ts';
import { patience } from './crash-host.ts';
import { createFamilyHost } from './family-host.ts';

const mac = '02:00:00:00:01:05';
const wanted = [nic(0, mac, '10.0.0.11/16')];
const path = 'etc/sysconfig/network-scripts/ifcfg-ens5';
const original = `BOOTPROTO=none\nDEVICE=ens5\nHWADDR=${mac}\nIPADDR=10.0.0.11\nPREFIX=16\nONBOOT=yes\n`;
const edited = original
  .replace('DEVICE', '#MULTINIC# DEVICE')
  .replace('ONBOOT=yes', 'ONBOOT=no #MULTINIC# ONBOOT=yes');

let host: NamespaceHost;
beforeEach(async () => {
  host = await createFamilyHost('adopted', 'ifcfg', { ens5: mac });
  await writeFile(join(host.root, path), original);
});
afterEach(() => host.down());

const foreign = () => readFile(join(host.root, path), 'utf8');
const main = () =>
  readFile(join(host.root, 'etc/sysconfig/network-scripts/ifcfg-multinic0'), 'utf8').catch(
    () => '',
  );

let generation = 1;
function run(more: Partial<JobRequest> = {}, options: RunOptions = {}) {
  const base = { protocol: 6, family: 'ifcfg', existingConfiguration: 'Adopt' } as const;
  generation += 1;
  return runAgent(host, request(wanted, { ...base, generation, ...more }), options);
}
const release = { interfaces: [], mayRemove: [mac] };

test(
  'a crash before any write of an adoption or release leaves the foreign file old or edited, like the files of the NIC',
  async () => {
    const applied = await run({}, { traced: true });
    expect(applied.result).toMatchObject({ outcome: 'ok', nics: [{ name: 'multinic0' }] });
    expect(await foreign()).toBe(edited);
    const released = await run(release, { traced: true });
    expect(released.result).toMatchObject({ outcome: 'ok', nics: [{ state: 'Removed' }] });
    expect(await foreign()).toBe(original);
    for (const [wish, { effects }] of [
      [{}, applied],
      [release, released],
    ] as const) {
      const moments = effects.filter((moment) =>
        /^agent\.file\.(commit|remove) before /.test(moment),
      );
      expect(moments.length).toBeGreaterThan(2);
      for (const moment of moments) {
        expect((await run(wish === release ? {} : release)).result?.outcome, moment).toBe('ok');
        expect((await run(wish, { killAt: moment })).code, moment).toBe(137);
        expect([original, edited], moment).toContain(await foreign());
        // A stale request only ends the interrupted change.
        await run({ generation: 0 });
        expect(await foreign(), moment).toBe((await main()) === '' ? original : edited);
      }
    }
  },
  patience,
);

const latin1 = Buffer.from(`# Gerät\n${original}`, 'latin1');

test.each([
  [
    'a link',
    'is not a regular file',
    async (real: string) => {
      await rename(real, join(real, '../../ens5'));
      await symlink('../ens5', real);
    },
  ],
  ['no UTF-8', 'is not UTF-8', (real: string) => writeFile(real, latin1)],
])('NetworkManager keeps the NIC if the foreign file is %s', async (_, problem, change) => {
  const real = join(host.root, path);
  await change(real);
  const bytes = await readFile(real);
  const [{ ifindex }] = (await host.ipJson('link', 'show', 'ens5')) as [{ ifindex: number }];
  const active = '[device]\nmanaged=true\nconnection-uuid=0c4fa3e1\n';
  await writeFile(join(host.root, `run/NetworkManager/devices/${ifindex}`), active);
  await mkdir(join(host.root, 'run/dbus'), { recursive: true });
  const bus = await FaultyBus.listen(join(host.root, 'run/dbus/system_bus_socket'));
  try {
    bus.mac = mac;
    const { result } = await run();
    expect(result?.nics).toMatchObject([
      { reason: 'PersistFailed', message: expect.stringContaining(problem) as string },
    ]);
    expect([bus.unmanaged, bus.activated]).toEqual([[], []]);
    expect(await readFile(real)).toEqual(bytes);
  } finally {
    await bus.close();
  }
});

test('a released NIC is activated again once NetworkManager offers the profile', async () => {
  await run();
  await mkdir(join(host.root, 'run/dbus'), { recursive: true });
  const bus = await FaultyBus.listen(join(host.root, 'run/dbus/system_bus_socket'));
  try {
    bus.mac = mac;
    bus.refuses = 'ActivateConnection';
    bus.refusals = 3;
    expect((await run(release)).result).toMatchObject({ nics: [{ state: 'Removed' }] });
    expect(bus.activated).toHaveLength(1);
  } finally {
    await bus.close();
  }
});
