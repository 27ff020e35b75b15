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
const requestWith = (more: Partial<JobRequest>) => request([wanted], { protocol: 2, ...more });

let host: NamespaceHost;
beforeEach(async () => {
  host = await createHost('manager', { nics: { ens5: mac } });
  const links = (await host.ipJson('link', 'show', 'eth0')) as { readonly ifindex: number }[];
  await put(`run/NetworkManager/devices/${links[0]?.ifindex}`, networkManagerLink.connected);
  // Folders the kubelet creates for the Pod if missing.
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

/** Returns managed files without backups, which stay. */
async function filesOfOurs(): Promise<string[]> {
  const { stdout } = await host.exec('find', `${host.root}/etc`, '-name', '*multinic*');
  return stdout
    .split('\n')
    .flatMap((path) => (path && !path.includes('/backup/') ? [path.replace(host.root, '')] : []))
    .toSorted();
}

const ifcfg = 'TYPE=Ethernet\nDEVICE=eth0\nONBOOT=yes\n';

test("a Debian host with a sysctl.d link to a file outside the Pod's folders is configured", async () => {
  await rm(join(host.root, 'run/NetworkManager/devices'), { recursive: true });
  await symlink('../sysctl.conf', join(host.root, 'etc/sysctl.d/99-sysctl.conf'));
  expect((await runAgent(host, requestWith({}))).result).toMatchObject({ outcome: 'ok' });
});

describe('NetworkManager host with netplan installed', () => {
  test.each([
    ['keyfile', {}, '/etc/NetworkManager/system-connections/90-multinic0.nmconnection'],
    [
      'ifcfg',
      { 'etc/sysconfig/network-scripts/ifcfg-eth0': ifcfg },
      '/etc/sysconfig/network-scripts/ifcfg-multinic0',
    ],
  ] as const)(
    '[RW-08] [RW-17] the first Job reports the network manager, and the second Job configures the NIC: %s',
    async (family, files, main) => {
      for (const [path, text] of Object.entries(files)) await put(path, text);
      const before = await stateOf(host);
      const first = await runAgent(host, requestWith({}));
      expect(first.result).toMatchObject({ outcome: 'failed', family });
      expect(await stateOf(host)).toEqual(before);
      const { result } = await runAgent(host, requestWith({ family, attempt: 2 }));
      expect(result).toMatchObject({ outcome: 'ok', family, nics: [{ name: 'multinic0' }] });
      const ours = await filesOfOurs();
      expect(ours).toEqual(
        expect.arrayContaining([main, '/etc/systemd/network/90-multinic0.link']),
      );
      expect(ours.filter((path) => path.startsWith('/etc/netplan'))).toEqual([]);
      const clean = await runAgent(host, requestWith({ family, action: 'cleanup', generation: 2 }));
      expect(clean.result?.outcome).toBe('ok');
      expect(await filesOfOurs()).toEqual([]);
    },
  );

  test('a Job for netplan changes nothing on a NetworkManager host, even with managed NICs', async () => {
    const devices = join(host.root, 'run/NetworkManager/devices');
    await rm(devices, { recursive: true });
    expect((await runAgent(host, requestWith({}))).result).toMatchObject({ family: 'netplan' });
    const links = (await host.ipJson('link', 'show', 'eth0')) as { readonly ifindex: number }[];
    await put(`run/NetworkManager/devices/${links[0]?.ifindex}`, networkManagerLink.connected);
    const before = await stateOf(host);
    const { result } = await runAgent(host, requestWith({ action: 'cleanup', generation: 2 }));
    expect(result).toMatchObject({ outcome: 'failed', family: 'keyfile' });
    expect(await stateOf(host)).toEqual(before);
  });
});

test('a host with systemd-networkd and without netplan is configured by the second Job', async () => {
  await rm(join(host.root, 'run/NetworkManager/devices'), { recursive: true });
  const links = (await host.ipJson('link', 'show', 'eth0')) as { readonly ifindex: number }[];
  await put(`run/systemd/netif/links/${links[0]?.ifindex}`, networkdLink.bookwormOwn);
  await put('etc/systemd/network/50-eth0.network', '[Match]\nName=eth0\n[Network]\nDHCP=yes\n');
  const before = await stateOf(host);
  const first = await runAgent(host, requestWith({}));
  expect(first.result).toMatchObject({ outcome: 'failed', family: 'networkd' });
  expect(await stateOf(host)).toEqual(before);
  const family = 'networkd';
  const { result } = await runAgent(host, requestWith({ family, attempt: 2 }));
  expect(result).toMatchObject({ outcome: 'ok', family, nics: [{ name: 'multinic0' }] });
  const directory = '/etc/systemd/network';
  const files = [`${directory}/90-multinic0.link`, `${directory}/90-multinic0.network`];
  expect(await filesOfOurs()).toEqual(expect.arrayContaining(files));
  const again = await runAgent(host, requestWith({ family, attempt: 3 }), { traced: true });
  expect(again.effects.filter((effect) => effect.startsWith('agent.kernel'))).toEqual([]);
  const moved = nic(0, mac, '10.0.0.21/16');
  const edited = request([moved], { protocol: 2, generation: 2, family });
  expect((await runAgent(host, edited)).result?.outcome).toBe('ok');
  const clean = await runAgent(host, requestWith({ family, action: 'cleanup', generation: 3 }));
  expect(clean.result?.outcome).toBe('ok');
  expect(await filesOfOurs()).toEqual([]);
});

test('a NIC NetworkManager is configured to ignore is reported as not persistent', async () => {
  const family = 'keyfile';
  const links = (await host.ipJson('link', 'show', 'ens5')) as { readonly ifindex: number }[];
  const said = `run/NetworkManager/devices/${links[0]?.ifindex}`;
  await put('run/systemd/units/invocation:NetworkManager.service', '');
  await put(said, networkManagerLink.disconnected);
  expect((await runAgent(host, requestWith({ family }))).result?.warnings).toEqual([]);
  await put(said, networkManagerLink.left);
  const warnings = ['NotPersistent multinic0, NetworkManager is configured to ignore it'];
  const again = await runAgent(host, requestWith({ family, attempt: 1 }));
  expect(again.result).toMatchObject({ outcome: 'ok', warnings });
  const checked = await runAgent(host, requestWith({ family, action: 'check' }));
  expect(checked.result).toMatchObject({ outcome: 'ok', warnings });
  await put(said, networkManagerLink.letGo);
  const free = await runAgent(host, requestWith({ family, action: 'check' }));
  expect(free.result).toMatchObject({ outcome: 'ok', warnings: [] });
});

test('a masked udev naming rule is reported as not persistent, with its full path', async () => {
  const rules = '/etc/udev/rules.d/80-net-setup-link.rules';
  await mkdir(join(host.root, dirname(rules)), { recursive: true });
  await symlink('/dev/null', join(host.root, rules));
  const { result } = await runAgent(host, requestWith({ family: 'keyfile' }));
  const warnings = [`NotPersistent multinic0, not named by ${rules}`];
  expect(result).toMatchObject({ outcome: 'ok', warnings });
});

/** Configures the NIC under another network manager, then hands the host to NetworkManager. */
async function takeOver(
  family: 'networkd' | 'netplan',
  { killAt, before }: { readonly killAt?: string; readonly before?: JobRequest } = {},
): Promise<void> {
  const devices = join(host.root, 'run/NetworkManager/devices');
  await rm(devices, { recursive: true });
  const links = (await host.ipJson('link', 'show', 'eth0')) as { readonly ifindex: number }[];
  const linkFile = `run/systemd/netif/links/${links[0]?.ifindex}`;
  const said = { networkd: networkdLink.bookwormOwn, netplan: networkdLink.trixie };
  await put(linkFile, said[family]);
  if (before) await runAgent(host, before);
  const first = await runAgent(
    host,
    requestWith({ family, generation: 2 }),
    killAt ? { killAt } : {},
  );
  if (killAt) expect(first.code).toBe(137);
  else expect(first.result).toMatchObject({ outcome: 'ok', warnings: [] });
  await rm(join(host.root, linkFile));
  await put(`run/NetworkManager/devices/${links[0]?.ifindex}`, networkManagerLink.connected);
}

describe('host taken over by NetworkManager', () => {
  const profile = '/etc/NetworkManager/system-connections/90-multinic0.nmconnection';

  test('only managed networkd files are removed after the takeover', async () => {
    await takeOver('networkd');
    await put('etc/systemd/network/50-theirs.network', `[Match]\nMACAddress=${mac}\n`);
    const { result } = await runAgent(
      host,
      requestWith({ family: 'keyfile', generation: 2, attempt: 1 }),
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
    ['adopts the NIC', [wanted]],
    ['releases the NIC', []],
  ])(
    'unreachable netplan files are reported after the takeover when a Job %s',
    async (_, interfaces) => {
      await takeOver('netplan');
      const next = request(interfaces, { protocol: 2, family: 'keyfile', generation: 2 });
      const warnings = ['FilesLeft /etc/netplan/90-multinic0.yaml'];
      expect((await runAgent(host, next)).result).toMatchObject({ outcome: 'ok', warnings });
      const again = await runAgent(host, { ...next, attempt: 1 });
      expect(again.result).toMatchObject({ outcome: 'ok', warnings: [] });
    },
  );
});

const journals = () => readdir(join(host.root, 'var/lib/multinic/journal'));

/** Hides the folder, as in a Pod for NetworkManager. */
const outOfReach = () => rename(join(host.root, 'etc/netplan'), join(host.root, 'out-of-reach'));

describe('change interrupted before NetworkManager took over', () => {
  const left = '/etc/netplan/90-multinic0.yaml';
  const former = request([nic(0, mac, '10.0.0.21/16')], { protocol: 2 });

  async function next(): Promise<void> {
    await outOfReach();
    const { result, stderr } = await runAgent(
      host,
      requestWith({ family: 'keyfile', generation: 2, attempt: 1 }),
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
      requestWith({ family: 'keyfile', generation: 2, attempt: 2 }),
    );
    expect(again).toMatchObject({ outcome: 'ok', warnings: [] });
  }

  const moments = [
    'agent.journal.write after 1',
    'agent.kernel.batch after 1',
    'agent.file.commit after 1',
    'agent.state.write after 1',
  ];

  test.each(moments)(
    'an interrupted first change is ended, and unreachable files are reported: %s',
    async (killAt) => {
      await takeOver('netplan', { killAt });
      await next();
    },
  );

  test.each(moments)(
    'an interrupted later change is ended, and unreachable files are reported: %s',
    async (killAt) => {
      await takeOver('netplan', { killAt, before: former });
      await next();
    },
  );
});
