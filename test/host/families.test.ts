import { mkdir, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { type HostMount, hostMounts } from '../../src/api/host-mounts.ts';
import type { JobRequest } from '../../src/api/job.ts';
import { request } from '../fixtures/agent-samples.ts';
import { networkdLink, networkManagerLink } from '../fixtures/recorded-managers.ts';
import { nic, runAgent } from './agent-process.ts';
import { stateOf } from './host-state.ts';

const mac = '02:00:00:00:01:05';
const wanted = nic(0, mac, '10.0.0.11/16');
const asked = (more: Partial<JobRequest>) => request([wanted], { protocol: 2, ...more });

let host: NamespaceHost;
beforeEach(async () => {
  host = await createHost('manager', { nics: { ens5: mac } });
  const links = (await host.ipJson('link', 'show', 'eth0')) as { readonly ifindex: number }[];
  await put(`run/NetworkManager/devices/${links[0]?.ifindex}`, networkManagerLink.connected);
  // What the kubelet makes for the Pod where it is missing.
  for (const { path } of [...hostMounts.keyfile, ...hostMounts.ifcfg].filter(isMade)) {
    await mkdir(join(host.root, path), { recursive: true });
  }
});
afterEach(() => host.down());

function isMade({ type }: HostMount): boolean {
  return type === 'DirectoryOrCreate';
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(host.root, path)), { recursive: true });
  await writeFile(join(host.root, path), text);
}

/** But for backups, which stay. */
async function filesOfOurs(): Promise<string[]> {
  const { stdout } = await host.exec('find', `${host.root}/etc`, '-name', '*multinic*');
  return stdout
    .split('\n')
    .flatMap((path) => (path && !path.includes('/backup/') ? [path.replace(host.root, '')] : []))
    .toSorted();
}

const ifcfg = 'TYPE=Ethernet\nDEVICE=eth0\nONBOOT=yes\n';

test('a host of Debian has settings in a file that no folder of the Pod has', async () => {
  await rm(join(host.root, 'run/NetworkManager/devices'), { recursive: true });
  await symlink('../sysctl.conf', join(host.root, 'etc/sysctl.d/99-sysctl.conf'));
  expect((await runAgent(host, asked({}))).result).toMatchObject({ outcome: 'ok' });
});

describe('a host of NetworkManager, on which netplan is installed too', () => {
  test.each([
    ['keyfile', {}, '/etc/NetworkManager/system-connections/90-multinic0.nmconnection'],
    [
      'ifcfg',
      { 'etc/sysconfig/network-scripts/ifcfg-eth0': ifcfg },
      '/etc/sysconfig/network-scripts/ifcfg-multinic0',
    ],
  ] as const)(
    '[RW-08] [RW-17] is configured by the second Job: %s',
    async (family, files, main) => {
      for (const [path, text] of Object.entries(files)) await put(path, text);
      const before = await stateOf(host);
      const first = await runAgent(host, asked({}));
      expect(first.result).toMatchObject({ outcome: 'failed', family });
      expect(await stateOf(host)).toEqual(before);
      const { result } = await runAgent(host, asked({ family, attempt: 2 }));
      expect(result).toMatchObject({ outcome: 'ok', family, nics: [{ name: 'multinic0' }] });
      const ours = await filesOfOurs();
      expect(ours).toEqual(
        expect.arrayContaining([main, '/etc/systemd/network/90-multinic0.link']),
      );
      expect(ours.filter((path) => path.startsWith('/etc/netplan'))).toEqual([]);
      const clean = await runAgent(host, asked({ family, action: 'cleanup', generation: 2 }));
      expect(clean.result?.outcome).toBe('ok');
      expect(await filesOfOurs()).toEqual([]);
    },
  );

  test('is left alone by a Job for the files that it had before, though NICs of it are ours', async () => {
    const devices = join(host.root, 'run/NetworkManager/devices');
    await rm(devices, { recursive: true });
    expect((await runAgent(host, asked({}))).result).toMatchObject({ family: 'netplan' });
    const links = (await host.ipJson('link', 'show', 'eth0')) as { readonly ifindex: number }[];
    await put(`run/NetworkManager/devices/${links[0]?.ifindex}`, networkManagerLink.connected);
    const before = await stateOf(host);
    const { result } = await runAgent(host, asked({ action: 'cleanup', generation: 2 }));
    expect(result).toMatchObject({ outcome: 'failed', family: 'keyfile' });
    expect(await stateOf(host)).toEqual(before);
  });
});

test('a host of systemd-networkd without netplan is configured by the second Job', async () => {
  await rm(join(host.root, 'run/NetworkManager/devices'), { recursive: true });
  const links = (await host.ipJson('link', 'show', 'eth0')) as { readonly ifindex: number }[];
  await put(`run/systemd/netif/links/${links[0]?.ifindex}`, networkdLink.bookwormOwn);
  await put('etc/systemd/network/50-eth0.network', '[Match]\nName=eth0\n[Network]\nDHCP=yes\n');
  const before = await stateOf(host);
  const first = await runAgent(host, asked({}));
  expect(first.result).toMatchObject({ outcome: 'failed', family: 'networkd' });
  expect(await stateOf(host)).toEqual(before);
  const family = 'networkd';
  const { result } = await runAgent(host, asked({ family, attempt: 2 }));
  expect(result).toMatchObject({ outcome: 'ok', family, nics: [{ name: 'multinic0' }] });
  const directory = '/etc/systemd/network';
  const files = [`${directory}/90-multinic0.link`, `${directory}/90-multinic0.network`];
  expect(await filesOfOurs()).toEqual(expect.arrayContaining(files));
  const again = await runAgent(host, asked({ family, attempt: 3 }));
  expect(again.effects.filter((effect) => effect.startsWith('agent.kernel'))).toEqual([]);
  const moved = nic(0, mac, '10.0.0.21/16');
  const edited = request([moved], { protocol: 2, generation: 2, family });
  expect((await runAgent(host, edited)).result?.outcome).toBe('ok');
  const clean = await runAgent(host, asked({ family, action: 'cleanup', generation: 3 }));
  expect(clean.result?.outcome).toBe('ok');
  expect(await filesOfOurs()).toEqual([]);
});

test('a NIC that NetworkManager is told not to manage is said to have nothing after a boot', async () => {
  const family = 'keyfile';
  const links = (await host.ipJson('link', 'show', 'ens5')) as { readonly ifindex: number }[];
  const said = `run/NetworkManager/devices/${links[0]?.ifindex}`;
  await put('run/systemd/units/invocation:NetworkManager.service', '');
  await put(said, networkManagerLink.disconnected);
  expect((await runAgent(host, asked({ family }))).result?.warnings).toEqual([]);
  await put(said, networkManagerLink.left);
  const warnings = ['NotPersistent multinic0, NetworkManager is told not to manage it'];
  const again = await runAgent(host, asked({ family, attempt: 1 }));
  expect(again.result).toMatchObject({ outcome: 'ok', warnings });
  const look = await runAgent(host, asked({ family, action: 'check' }));
  expect(look.result).toMatchObject({ outcome: 'ok', warnings });
  await put(said, networkManagerLink.letGo);
  const free = await runAgent(host, asked({ family, action: 'check' }));
  expect(free.result).toMatchObject({ outcome: 'ok', warnings: [] });
});

test('a NIC that udev is kept from naming is said to have no name after a boot, with the whole path', async () => {
  const rules = '/etc/udev/rules.d/80-net-setup-link.rules';
  await mkdir(join(host.root, dirname(rules)), { recursive: true });
  await symlink('/dev/null', join(host.root, rules));
  const { result } = await runAgent(host, asked({ family: 'keyfile' }));
  const warnings = [`NotPersistent multinic0, no name by ${rules}`];
  expect(result).toMatchObject({ outcome: 'ok', warnings });
});

/** Has the agent configure the NIC while another manager has the node's own, which is gone then. */
async function takenOver(
  family: 'networkd' | 'netplan',
  { killAt, before }: { readonly killAt?: string; readonly before?: JobRequest } = {},
): Promise<void> {
  const devices = join(host.root, 'run/NetworkManager/devices');
  await rm(devices, { recursive: true });
  const links = (await host.ipJson('link', 'show', 'eth0')) as { readonly ifindex: number }[];
  const inHand = `run/systemd/netif/links/${links[0]?.ifindex}`;
  const said = { networkd: networkdLink.bookwormOwn, netplan: networkdLink.trixie };
  await put(inHand, said[family]);
  if (before) await runAgent(host, before);
  const first = await runAgent(host, asked({ family, generation: 2 }), killAt ? { killAt } : {});
  if (killAt) expect(first.code).toBe(137);
  else expect(first.result).toMatchObject({ outcome: 'ok', warnings: [] });
  await rm(join(host.root, inHand));
  await put(`run/NetworkManager/devices/${links[0]?.ifindex}`, networkManagerLink.connected);
}

describe('a host that NetworkManager has taken over', () => {
  const profile = '/etc/NetworkManager/system-connections/90-multinic0.nmconnection';

  test('loses the files of networkd that are ours, and those alone', async () => {
    await takenOver('networkd');
    await put('etc/systemd/network/50-theirs.network', `[Match]\nMACAddress=${mac}\n`);
    const { result } = await runAgent(
      host,
      asked({ family: 'keyfile', generation: 2, attempt: 1 }),
    );
    expect(result).toMatchObject({ outcome: 'ok', warnings: [] });
    const files = await filesOfOurs();
    expect(files).toEqual(
      expect.arrayContaining([profile, '/etc/systemd/network/90-multinic0.link']),
    );
    expect(files).not.toContain('/etc/systemd/network/90-multinic0.network');
    await stat(join(host.root, 'etc/systemd/network/50-theirs.network'));
  });

  test.each([
    ['takes over', [wanted]],
    ['removes', []],
  ])('is told which files of netplan no agent reaches when one %s', async (_, interfaces) => {
    await takenOver('netplan');
    const next = request(interfaces, { protocol: 2, family: 'keyfile', generation: 2 });
    const warnings = ['FilesLeft /etc/netplan/90-multinic0.yaml'];
    expect((await runAgent(host, next)).result).toMatchObject({ outcome: 'ok', warnings });
    const again = await runAgent(host, { ...next, attempt: 1 });
    expect(again.result).toMatchObject({ outcome: 'ok', warnings: [] });
  });
});

const journals = () => readdir(join(host.root, 'var/lib/multinic/journal'));

/** As a Pod for NetworkManager sees the host: without the folder. */
const outOfReach = () => rename(join(host.root, 'etc/netplan'), join(host.root, 'out-of-reach'));

describe('a change that was in hand when NetworkManager took the host over', () => {
  const left = '/etc/netplan/90-multinic0.yaml';
  const former = request([nic(0, mac, '10.0.0.21/16')], { protocol: 2 });

  async function next(): Promise<void> {
    await outOfReach();
    const { result, stderr } = await runAgent(
      host,
      asked({ family: 'keyfile', generation: 2, attempt: 1 }),
    );
    expect(result, stderr).toMatchObject({
      outcome: 'ok',
      nics: [{ name: 'multinic0', reason: 'Configured' }],
    });
    expect(result?.warnings).toEqual([`FilesLeft ${left}`]);
    expect(await journals()).toEqual([]);
    expect(await host.ip('addr', 'show', 'multinic0')).not.toContain('10.0.0.21');
    const { result: again } = await runAgent(
      host,
      asked({ family: 'keyfile', generation: 2, attempt: 2 }),
    );
    expect(again).toMatchObject({ outcome: 'ok', warnings: [] });
  }

  const moments = [
    'agent.journal.write after 1',
    'agent.kernel.batch after 1',
    'agent.file.commit after 1',
    'agent.state.write after 1',
  ];

  test.each(moments)('is ended, and what no agent reaches is told: %s', async (killAt) => {
    await takenOver('netplan', { killAt });
    await next();
  });

  test.each(moments)('is ended where it was of a NIC that was ours: %s', async (killAt) => {
    await takenOver('netplan', { killAt, before: former });
    await next();
  });
});
