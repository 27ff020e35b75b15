import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { host, link, macOf, route } from '../../../test/fixtures/agent-samples.ts';
import {
  keyfile,
  networkdLink,
  networkManagerLink,
} from '../../../test/fixtures/recorded-managers.ts';
import type { Ip } from '../ip-session.ts';
import type { Link, Snapshot } from '../snapshot.ts';
import { isLeftAlone, observeFamily } from './family.ts';
import { siteAt } from './host.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'multinic-family-'));
});
afterEach(() => rmSync(root, { recursive: true }));

/** A host with these files; a folder ends with a slash, and an active unit is a link that leads nowhere. */
function make(files: Readonly<Record<string, string>>, units: readonly string[] = []): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path.endsWith('/') ? path : dirname(path)), { recursive: true });
    if (!path.endsWith('/')) writeFileSync(join(root, path), text);
  }
  mkdirSync(join(root, 'run/systemd/units'), { recursive: true });
  for (const unit of units) {
    symlinkSync(
      'ab8258b74fbf4b06bcf50d40d91cf7ac',
      join(root, `run/systemd/units/invocation:${unit}`),
    );
  }
}

interface Seen {
  readonly links?: readonly Link[];
  readonly macs?: readonly string[];
  readonly protectedAddresses?: readonly string[];
}

const ipShowing = (seen: Snapshot): Ip => ({
  run: async () => ({ seen }),
});

/** Asks of a host with the primary NIC eth0, whose index is 2, and these NICs. */
function find({ links = [], macs = [], protectedAddresses = [] }: Seen = {}) {
  const kernel = host([link(0, { name: 'lo', index: 1, mac: '00:00:00:00:00:00' }), ...links]);
  const site = siteAt(root, ipShowing(kernel));
  return observeFamily(site, { macs: new Set(macs), protectedAddresses });
}

const netif = (index: number) => `run/systemd/netif/links/${index}`;
const device = (index: number) => `run/NetworkManager/devices/${index}`;
const profile = 'etc/NetworkManager/system-connections/eth0.nmconnection';

describe('a host whose links networkd manages', () => {
  test.each(['bullseye', 'trixie'] as const)(
    'from files of netplan is netplan: %s',
    async (release) => {
      make({ [netif(1)]: networkdLink.unmanaged, [netif(2)]: networkdLink[release] });
      expect(await find()).toEqual({
        family: 'netplan',
        found: 'systemd-networkd manages eth0 by 10-netplan-eth0.network',
      });
    },
  );

  test('counts though networkd could not set it up', async () => {
    make({ [netif(2)]: networkdLink.trixie.replace('=configured', '=failed') });
    expect(await find()).toMatchObject({ family: 'netplan' });
  });

  test('from a file of its own is networkd, whether netplan is installed or not', async () => {
    make({ [netif(2)]: networkdLink.bookwormOwn, 'usr/lib/netplan/': '' });
    expect(await find()).toEqual({
      family: 'networkd',
      found: 'systemd-networkd manages eth0 by 50-eth0.network',
    });
  });

  test('is refused as long as netplan would give our files to NetworkManager', async () => {
    const yaml = 'network: {version: 2, "renderer": NetworkManager}';
    make({ [netif(2)]: networkdLink.trixie, 'etc/netplan/01-nm.yaml': yaml });
    const found = '/etc/netplan/01-nm.yaml sets renderer NetworkManager';
    expect(await find()).toEqual({ found });
    make({ 'etc/netplan/01-nm.yaml': '# renderer: NetworkManager\nnetwork: {renderer: networkd}' });
    expect(await find()).toMatchObject({ family: 'netplan' });
  });
});

describe('a host whose links NetworkManager manages', () => {
  test('is keyfile', async () => {
    make({ [device(2)]: networkManagerLink.connected, [profile]: keyfile });
    expect(await find()).toEqual({ family: 'keyfile', found: 'NetworkManager manages eth0' });
  });

  test('is keyfile though netplan made the profile', async () => {
    const yaml = 'network:\n  renderer: NetworkManager\n';
    make({
      [device(2)]: networkManagerLink.byNetplan,
      'usr/lib/netplan/': '',
      'etc/netplan/10-primary.yaml': yaml,
    });
    expect(await find()).toMatchObject({ family: 'keyfile' });
  });

  const uuid = '11111111-1111-1111-1111-000000000000';
  test.each([
    ['its uuid', `UUID="${uuid}"\nDEVICE=eth9\n`, 'ifcfg'],
    ['no uuid and its name', 'DEVICE=eth0\nBOOTPROTO=none\n', 'ifcfg'],
    ['no uuid and its MAC', `HWADDR=${macOf(0).toUpperCase()}\n`, 'ifcfg'],
    ['no uuid and its name, and another MAC', `DEVICE=eth0\nHWADDR=${macOf(7)}\n`, 'ifcfg'],
    [
      'another uuid and its name',
      'UUID=22222222-2222-2222-2222-000000000000\nDEVICE=eth0',
      'keyfile',
    ],
    ['no uuid and another name', 'DEVICE=eth9\n', 'keyfile'],
    ['nothing of it', 'TYPE=Ethernet\n', 'keyfile'],
  ] as const)('by an ifcfg file with %s', async (_, text, family) => {
    make({
      [device(2)]: networkManagerLink.connected,
      'etc/sysconfig/network-scripts/ifcfg-eth0': text,
    });
    expect(await find()).toMatchObject({ family });
  });

  test('is keyfile where a keyfile has the profile, whatever an ifcfg file left behind says', async () => {
    make({
      [device(2)]: networkManagerLink.connected,
      'usr/lib/NetworkManager/system-connections/eth0.nmconnection': keyfile,
      'etc/sysconfig/network-scripts/ifcfg-eth0': 'DEVICE=eth0\n',
    });
    expect(await find()).toMatchObject({ family: 'keyfile' });
  });

  test('reads no backup of a file, and none of ours', async () => {
    make({
      [device(2)]: networkManagerLink.connected,
      'etc/sysconfig/network-scripts/ifcfg-eth0.bak': 'DEVICE=eth0\n',
      'etc/sysconfig/network-scripts/ifcfg-eth0~': 'DEVICE=eth0\n',
      'etc/sysconfig/network-scripts/ifcfg-multinic0': 'DEVICE=eth0\n',
      'etc/sysconfig/network-scripts/ifcfg-lo': 'DEVICE=eth0\n',
      'etc/sysconfig/network-scripts/route-eth0': 'DEVICE=eth0\n',
    });
    expect(await find()).toMatchObject({ family: 'keyfile' });
  });
});

describe('what counts', () => {
  const both = { [netif(2)]: networkdLink.trixie, [device(15)]: networkManagerLink.disconnected };
  const ens5 = link(5);

  test('is each NIC that is not ours: two managers are refused by name', async () => {
    make(both);
    expect(await find({ links: [ens5] })).toEqual({
      found:
        'systemd-networkd manages eth0 by 10-netplan-eth0.network and NetworkManager manages ens5',
    });
    expect(await find({ links: [ens5], macs: [ens5.mac] })).toMatchObject({ family: 'netplan' });
  });

  test("is the node's own NIC, though an entry names it", async () => {
    make({ [device(2)]: networkManagerLink.connected, 'usr/lib/netplan/': '' });
    expect(await find({ macs: [macOf(0)] })).toMatchObject({ family: 'keyfile' });
    make({ [netif(15)]: networkdLink.trixie });
    const kernel = host([ens5], { routes: [route('0.0.0.0/0', 'ens5', { table: 100 })] });
    const macs = new Set([macOf(0), ens5.mac]);
    const found = await observeFamily(siteAt(root, ipShowing(kernel)), {
      macs,
      protectedAddresses: [],
    });
    expect(found).toMatchObject({ family: 'keyfile' });
  });

  test('is nothing that NetworkManager left behind when it ended', async () => {
    const left = { [netif(2)]: networkdLink.trixie, [device(2)]: networkManagerLink.connected };
    make(left, ['systemd-networkd.service']);
    expect(await find()).toMatchObject({ family: 'netplan' });
    make({}, ['NetworkManager.service']);
    expect(await find()).not.toHaveProperty('family');
  });

  test.each(['veth', 'bridge', 'tun', 'vxlan'])('is no %s of a container runtime', async (kind) => {
    make(both);
    expect(await find({ links: [{ ...ens5, kind }] })).toMatchObject({ family: 'netplan' });
  });

  test('is the loopback in no case: NetworkManager 1.42 holds it like any other', async () => {
    make({ [netif(2)]: networkdLink.trixie, [device(1)]: networkManagerLink.connected });
    expect(await find()).toMatchObject({ family: 'netplan' });
  });

  test('is a bond that has a default route, or an address of the Node', async () => {
    const bond = { ...link(5), name: 'bond0', kind: 'bond', index: 9 };
    make({ [device(9)]: networkManagerLink.connected, 'usr/lib/netplan/': '' });
    const address = { link: 'bond0', family: 4, cidr: '192.0.2.7/24', scope: 0 } as const;
    const whole = { ...address, noPrefixRoute: false, opaque: false };
    const kernel = host([bond], { addresses: [whole] });
    const site = siteAt(root, ipShowing(kernel));
    const ask = (protectedAddresses: string[]) =>
      observeFamily(site, { macs: new Set(), protectedAddresses });
    expect(await ask([])).toMatchObject({ family: 'netplan' });
    expect(await ask(['192.0.2.7'])).toMatchObject({ family: 'keyfile' });
    const six = host([bond], { addresses: [{ ...whole, family: 6, cidr: 'fd00::7/64' }] });
    const own = { macs: new Set<string>(), protectedAddresses: ['FD00:0:0::7'] };
    const found = await observeFamily(siteAt(root, ipShowing(six)), own);
    expect(found).toMatchObject({ family: 'keyfile' });
    const routed = host([bond], { routes: [route('::/0', 'bond0', { metric: 1024 })] });
    const there = siteAt(root, ipShowing(routed));
    expect(await observeFamily(there, { macs: new Set(), protectedAddresses: [] })).toMatchObject({
      family: 'keyfile',
    });
  });
});

describe("a host whose NetworkManager is told not to manage the node's own NIC", () => {
  const running = ['NetworkManager.service'];

  test('is not of NetworkManager, which says so of no NIC that it has let go for this boot alone', async () => {
    make({ [device(2)]: networkManagerLink.left }, running);
    expect(await find()).toEqual({ found: 'NetworkManager, which is told to leave eth0 alone' });
    make({ [device(2)]: networkManagerLink.letGo });
    expect(await find()).toMatchObject({ family: 'keyfile' });
  });

  test('is of who else is there', async () => {
    make({ [device(2)]: networkManagerLink.left }, [...running, 'network.service']);
    const found = 'NetworkManager, which is told to leave eth0 alone, and network-scripts';
    expect(await find()).toEqual({ found });
    make({ [netif(2)]: networkdLink.trixie }, ['systemd-networkd.service']);
    expect(await find()).toMatchObject({ family: 'netplan' });
  });

  test('says so by having no file for it, as of NICs that it never had', async () => {
    make({ [device(1)]: networkManagerLink.connected }, running);
    expect(await find()).not.toHaveProperty('family');
    make({ [device(2)]: networkManagerLink.disconnected });
    expect(await find()).toMatchObject({ family: 'keyfile' });
  });

  test('may have it leave any other NIC alone', async () => {
    make({ [device(2)]: networkManagerLink.letGo, [device(15)]: networkManagerLink.left }, running);
    expect(await find({ links: [link(5)] })).toMatchObject({ family: 'keyfile' });
  });
});

describe('a host on which nobody manages a link of the node', () => {
  const stale = { [netif(2)]: networkdLink.unmanaged, [device(2)]: networkManagerLink.left };

  test.each([
    ['netplan, installed', { 'usr/lib/netplan/': '' }, [], 'netplan'],
    ['netplan of Debian 11', { 'usr/lib/systemd/system-generators/netplan': '' }, [], 'netplan'],
    ['netplan, beside networkd', { ...stale, 'usr/lib/netplan/': '' }, [], 'netplan'],
    ['what NetworkManager left', { [device(2)]: networkManagerLink.left }, [], undefined],
    ['networkd, running', stale, [], 'networkd'],
    ['networkd, starting', {}, ['systemd-networkd.service'], 'networkd'],
    ['NetworkManager, running', {}, ['NetworkManager.service'], 'keyfile'],
    [
      'NetworkManager, and netplan asleep',
      { 'usr/lib/netplan/': '' },
      ['NetworkManager.service'],
      'keyfile',
    ],
    ['both', stale, ['NetworkManager.service'], undefined],
    ['ifupdown', { 'usr/lib/ifupdown/': '' }, ['networking.service'], undefined],
    ['nothing', {}, [], undefined],
  ] as const)('has %s', async (_, files, units, family) => {
    make(files, units);
    const finding = await find();
    expect(finding.family).toBe(family);
  });

  const daemon = 'usr/lib/systemd/systemd-networkd';
  const service = 'usr/lib/systemd/system/NetworkManager.service';
  const files = { 'etc/systemd/network/50-eth0.network': '[Match]\n' };
  const ifcfg = { 'etc/sysconfig/network-scripts/ifcfg-eth0': 'DEVICE=eth0\n' };

  test.each([
    ['networkd and its files', { [daemon]: '', ...files }, [], 'networkd'],
    ['networkd, as everywhere', { [daemon]: '' }, [], undefined],
    [
      'networkd and files of ours',
      { [daemon]: '', 'etc/systemd/network/90-multinic0.network': '' },
      [],
      undefined,
    ],
    ['NetworkManager and a keyfile', { [service]: '', [profile]: keyfile }, [], 'keyfile'],
    ['NetworkManager and an ifcfg file', { [service]: '', ...ifcfg }, [], 'ifcfg'],
    ['NetworkManager and none', { [service]: '' }, [], undefined],
    ['both', { [daemon]: '', ...files, [service]: '', [profile]: keyfile }, [], undefined],
    ['network-scripts at work', { [service]: '', ...ifcfg }, ['network.service'], undefined],
  ] as const)('is told by what is installed: %s', async (_, there, units, family) => {
    make(there, units);
    expect((await find()).family).toBe(family);
  });

  test('[RW-82] says what was found', async () => {
    expect(await find()).toEqual({ found: 'no netplan, but no manager that is known' });
    make({ 'usr/lib/ifupdown/': '', [service]: '' }, ['networking.service', 'wickedd.service']);
    expect(await find()).toEqual({
      found: 'no netplan, but NetworkManager and ifupdown and wicked',
    });
  });
});

describe('a NIC that NetworkManager is told not to manage', () => {
  const running = ['NetworkManager.service'];

  test('is one that it has no file for, or one that does not say', () => {
    make(
      { [device(2)]: networkManagerLink.connected, [device(7)]: networkManagerLink.left },
      running,
    );
    expect([2, 7, 8].map((index) => isLeftAlone(root, index))).toEqual([false, true, true]);
  });

  test('is none where it has no file at all, or does not run', () => {
    make({}, running);
    expect(isLeftAlone(root, 7)).toBe(false);
  });

  test('is none of one that has ended and left its files', () => {
    make({ [device(2)]: networkManagerLink.connected }, ['systemd-networkd.service']);
    expect(isLeftAlone(root, 7)).toBe(false);
  });
});
