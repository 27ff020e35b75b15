import { execFileSync } from 'node:child_process';
import fs, { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { netplan } from '../backends/netplan.ts';
import { networkd } from '../backends/networkd.ts';
import type { Ip } from '../ip/session.ts';
import { emptyState, sha256 } from '../state.ts';
import { dropInsToOurs, observeHost, readPlaces, siteAt } from './host.ts';
import { readHostFiles } from './host-files.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'multinic-observe-'));
});
afterEach(() => rmSync(root, { recursive: true }));

test('readHostFiles returns nothing for a missing directory', () => {
  expect(readHostFiles(root, { directory: '/etc/netplan', suffix: '.yaml' })).toEqual([]);
});

test('readHostFiles returns every entry with the suffix, with text only for files', () => {
  const place = join(root, 'etc/netplan');
  mkdirSync(join(place, '10-directory.yaml'), { recursive: true });
  writeFileSync(join(place, '20-file.yaml'), 'text');
  chmodSync(join(place, '20-file.yaml'), 0o640);
  writeFileSync(join(place, '.30-hidden.yaml'), 'text');
  writeFileSync(join(place, '31-other.txt'), 'text');
  symlinkSync('20-file.yaml', join(place, '40-link.yaml'));
  symlinkSync('/etc/netplan/20-file.yaml', join(place, '41-link-from-the-root.yaml'));
  symlinkSync('/nowhere/at/all', join(place, '50-nowhere.yaml'));
  symlinkSync('60-loop.yaml', join(place, '60-loop.yaml'));
  symlinkSync('20-file.yaml/x', join(place, '70-through-a-file.yaml'));
  symlinkSync('/dev/null', join(place, '80-masked.yaml'));
  symlinkSync('../../dev/null', join(place, '81-masked-from-here.yaml'));
  execFileSync('mkfifo', [join(place, '90-pipe.yaml')]);
  const files = readHostFiles(root, { directory: '/etc/netplan', suffix: '.yaml' });
  expect(
    files.map(({ path, text, unread }) => [path.replace('/etc/netplan/', ''), text, unread]),
  ).toEqual([
    ['10-directory.yaml', '', undefined],
    ['20-file.yaml', 'text', undefined],
    ['40-link.yaml', 'text', undefined],
    ['41-link-from-the-root.yaml', 'text', undefined],
    ['50-nowhere.yaml', '', 'ENOENT'],
    ['60-loop.yaml', '', 'ELOOP'],
    ['70-through-a-file.yaml', '', 'ENOTDIR'],
    ['80-masked.yaml', '', undefined],
    ['81-masked-from-here.yaml', '', undefined],
    ['90-pipe.yaml', '', undefined],
  ]);
  expect(files[1]?.mode).toBe(0o640);
});

test('readHostFiles skips a file deleted after listing', () => {
  const place = join(root, 'etc/netplan');
  mkdirSync(place, { recursive: true });
  for (const name of ['20-stays.yaml', '30-goes.yaml']) writeFileSync(join(place, name), 'text');
  const { readdirSync } = fs;
  const goesThen = (path: string) => {
    const names = readdirSync(path);
    rmSync(join(place, '30-goes.yaml'));
    return names;
  };
  Object.assign(fs, { readdirSync: goesThen });
  syncBuiltinESMExports();
  try {
    const files = readHostFiles(root, { directory: '/etc/netplan', suffix: '.yaml' });
    expect(files.map(({ path }) => path)).toEqual(['/etc/netplan/20-stays.yaml']);
  } finally {
    Object.assign(fs, { readdirSync });
    syncBuiltinESMExports();
  }
});

test('readHostFiles throws for an unreadable directory', () => {
  symlinkSync('loop', join(root, 'loop'));
  expect(() => readHostFiles(root, { directory: '/loop', suffix: '.yaml' })).toThrow('ELOOP');
});

test('readPlaces hides same-named files in later places, also behind a mask', () => {
  const make = (path: string) => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), path);
  };
  const systemd = ['etc', 'run', 'usr/lib'].map((top) => `${top}/systemd/network`);
  for (const folder of systemd) make(`${folder}/zz-default.network`);
  for (const folder of systemd.slice(1)) make(`${folder}/50-run.network`);
  make('usr/lib/systemd/network/80-vendor.network');
  make('usr/lib/systemd/network/80-vendor.link');
  make('usr/lib/systemd/network/99-masked.link');
  symlinkSync('/dev/null', join(root, 'etc/systemd/network/99-masked.link'));
  const pathsOf = (places: typeof netplan.places) =>
    readPlaces(root, places).map(({ path }) => path);
  expect(pathsOf(networkd.places)).toEqual([
    '/etc/systemd/network/zz-default.network',
    '/run/systemd/network/50-run.network',
    '/usr/lib/systemd/network/80-vendor.network',
    '/etc/systemd/network/99-masked.link',
    '/usr/lib/systemd/network/80-vendor.link',
  ]);
  for (const top of ['etc', 'run', 'usr/lib']) make(`${top}/netplan/50-cloud.yaml`);
  for (const top of ['run', 'usr/lib']) make(`${top}/netplan/10-${top.slice(0, 3)}.yaml`);
  expect(pathsOf(netplan.places)).toEqual([
    '/run/netplan/10-run.yaml',
    '/run/netplan/50-cloud.yaml',
    '/usr/lib/netplan/10-usr.yaml',
  ]);
});

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

test('readPlaces merges drop-ins from all places by name; the first place wins', async () => {
  write({
    'usr/lib/systemd/network/80-vendor.network': '[Match]\nName=eno*\n',
    'etc/systemd/network/80-vendor.network.d/20-names.conf': '[Match]\nName=\nName=ens5\n',
    'run/systemd/network/80-vendor.network.d/10-other.conf': '[Match]\nName=eno9\n',
    'run/systemd/network/80-vendor.network.d/20-names.conf': '[Match]\nName=ens6\n',
    'run/systemd/network/80-vendor.network.d/30-note.txt': '[Match]\nName=ens7\n',
    'etc/systemd/network/70-gone.network.d/10.conf': '[Match]\nName=ens8\n',
    'etc/systemd/network/60-no-folder.network.d': '',
    'etc/systemd/network/50-slot.link': '[Match]\nOriginalName=eth0\n[Link]\nName=x\n',
    'etc/systemd/network/50-slot.link.d/mac.conf': '[Match]\nMACAddress=02:00:00:00:01:05\n',
  });
  const files = await Promise.all(
    readPlaces(root, networkd.places).map((file) => networkd.read(file)),
  );
  expect(files.map(({ path, names, macs }) => [path, names, macs])).toEqual([
    ['/usr/lib/systemd/network/80-vendor.network', ['ens5'], []],
    ['/etc/systemd/network/50-slot.link', undefined, ['02:00:00:00:01:05']],
  ]);
  expect(dropInsToOurs(root, networkd.places)).toEqual([]);
});

test('an unreadable drop-in marks its file as unread', async () => {
  write({ 'etc/systemd/network/10-theirs.network': '[Match]\nName=eth0\n' });
  mkdirSync(join(root, 'etc/systemd/network/10-theirs.network.d'));
  symlinkSync('/nowhere', join(root, 'etc/systemd/network/10-theirs.network.d/x.conf'));
  const [file] = readPlaces(root, networkd.places);
  expect(file).toMatchObject({ unread: 'ENOENT' });
});

test('dropInsToOurs returns drop-ins for managed file names, with or without the file', () => {
  write({
    'etc/systemd/network/90-multinic0.network.d/mtu.conf': '[Link]\nMTUBytes=9000\n',
    'etc/systemd/network/91-multinic1.link.d/empty.conf': '\n',
    'run/systemd/network/92-multinic2.link.d/name.conf': '[Link]\nName=data0\n',
  });
  const found = dropInsToOurs(root, networkd.places).map(({ path, names }) => [path, names]);
  expect(found).toEqual([
    ['/etc/systemd/network/90-multinic0.network.d/mtu.conf', ['multinic0']],
    ['/run/systemd/network/92-multinic2.link.d/name.conf', ['multinic2']],
  ]);
  expect(dropInsToOurs(root, netplan.places)).toEqual([]);
});

test('readPlaces ignores drop-ins for empty and managed files', () => {
  const place = 'etc/systemd/network';
  write({
    [`${place}/10-empty.link`]: '',
    [`${place}/10-empty.link.d/a.conf`]: '[Match]\nOriginalName=*\n',
    [`${place}/90-multinic0.network`]: '[Match]\n',
  });
  const folder = join(root, place, '90-multinic0.network.d');
  mkdirSync(folder);
  symlinkSync('/nowhere/at/all', join(folder, 'b.conf'));
  const files = readPlaces(root, networkd.places);
  expect(files.map(({ path, dropIns, unread }) => [path, dropIns, unread])).toEqual([
    [`/${place}/90-multinic0.network`, undefined, undefined],
    [`/${place}/10-empty.link`, undefined, undefined],
  ]);
});

test("a file counts as managed only if byte-identical to the agent's version", async () => {
  const [mac, path] = ['02:00:00:00:01:01', '/etc/netplan/90-multinic0.yaml'];
  const text = 'written';
  const files = [{ path, sha256: sha256(text) }];
  const nic = { mac, index: 0, originalName: '', addresses: [], table: 100, priority: 1, files };
  const state = { ...emptyState, nics: [nic] };
  const seen = { links: [], addresses: [], routes: [], rules: [] };
  const ip = { run: async () => ({ seen }) } as unknown as Ip;
  const there = { ...siteAt(root, ip), backend: netplan };
  const ownOf = async (found: string) => {
    write({ [path]: found });
    return (await observeHost(there, new Set(), state)).files.map(({ own }) => own?.mac);
  };
  expect(await ownOf(text)).toEqual([mac]);
  expect(await ownOf('network: {ethernets: {ens5: {dhcp4: true}}}')).toEqual([undefined]);
});
