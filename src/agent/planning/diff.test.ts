import { describe, expect, test } from 'vitest';
import { type DiffOptions, diffNic } from './diff.ts';
import type { LinkState, NicRoute, NicRule, NicState } from './nic-state.ts';
import { batchLine } from './operation.ts';

const address = (cidr: string) => ({ cidr, noPrefixRoute: false });
const route = (to: string, more: Partial<NicRoute> = {}): NicRoute => ({
  to,
  table: 100,
  protocol: 4,
  scope: 253,
  metric: 100,
  ...more,
});
const rule = (ip: string, more: Partial<NicRule> = {}): NicRule => ({
  from: `${ip}/32`,
  table: 100,
  priority: 10_100,
  protocol: 4,
  ...more,
});

const fresh: LinkState = {
  name: 'ens5',
  mtu: 1500,
  up: false,
  addressMode: 'eui64',
  settings: { 'ipv6.accept_ra': '1' },
  addresses: [],
  linkLocal: [],
  routes: [],
};
const configured: LinkState = {
  name: 'multinic0',
  mtu: 1450,
  up: true,
  addressMode: 'none',
  settings: { 'ipv6.accept_ra': '0' },
  addresses: [{ cidr: '10.0.0.11/24', broadcast: '10.0.0.255', noPrefixRoute: false }],
  linkLocal: [],
  routes: [
    route('10.0.0.0/24', { src: '10.0.0.11' }),
    route('0.0.0.0/0', { via: '10.0.0.254', scope: 0 }),
  ],
};
const before: NicState = { link: fresh, rules: [] };
const after: NicState = { link: configured, rules: [rule('10.0.0.11')] };

function lines(now: NicState, want: NicState, options?: DiffOptions): string[] {
  return diffNic(now, want, options).operations.map(batchLine);
}

describe('diffNic', () => {
  test("a fresh NIC gets name and address before up, and rules after the table's routes", () => {
    expect(lines(before, after)).toEqual([
      'link set dev ens5 name multinic0',
      'link set dev multinic0 mtu 1450',
      'link set dev multinic0 addrgenmode none',
      'addr replace 10.0.0.11/24 broadcast 10.0.0.255 dev multinic0',
      'link set dev multinic0 up',
      'route replace 10.0.0.0/24 dev multinic0 src 10.0.0.11 table 100 proto 4 scope 253 metric 100',
      'route replace 0.0.0.0/0 via 10.0.0.254 dev multinic0 table 100 proto 4 scope 0 metric 100',
      'rule add from 10.0.0.11/32 table 100 priority 10100 protocol 4',
    ]);
  });

  test("accept_ra is disabled under the NIC's current name", () => {
    expect(diffNic(before, after).sysctls).toEqual([
      { dev: 'ens5', key: 'ipv6.accept_ra', value: '0' },
    ]);
  });

  test('equal states need no change', () => {
    expect(diffNic(after, after)).toEqual({ sysctls: [], operations: [] });
  });

  test('a second route with the same key and a wrong source is deleted', () => {
    const old = route('10.0.0.0/24', { src: '10.0.0.9' });
    const twice = { ...configured, routes: [old, ...configured.routes] };
    expect(lines({ ...after, link: twice }, after)).toEqual([
      'route del 10.0.0.0/24 dev multinic0 src 10.0.0.9 table 100 proto 4 scope 253 metric 100',
    ]);
  });

  test("the link's own alternative name is deleted before a rename to it", () => {
    const renamed = { ...configured, altNames: ['enp0s5', 'ens5'] };
    expect(lines({ ...after, link: renamed }, before).slice(0, 3)).toEqual([
      'link set dev multinic0 down',
      'link property del dev multinic0 altname ens5',
      'link set dev multinic0 name ens5',
    ]);
  });

  test('an MTU change below or above 1280 comes without IPv6 operations', () => {
    const { addressMode: _, ...narrow } = { ...configured, mtu: 1279, settings: {} };
    const up = { ...configured, addressMode: 'eui64', linkLocal: ['fe80::1/64'] };
    const change = diffNic({ ...after, link: up }, { ...after, link: narrow });
    expect(change.sysctls).toEqual([]);
    expect(change.operations.map(batchLine)).toEqual(['link set dev multinic0 mtu 1279']);
    const widened = diffNic({ ...after, link: narrow }, after);
    expect(widened.sysctls).toEqual([]);
    expect(widened.operations.map(batchLine)).toEqual(['link set dev multinic0 mtu 1450']);
  });

  test('an expiring address is replaced, not deleted', () => {
    const [address1] = configured.addresses;
    const leased = {
      ...configured,
      addresses: [{ cidr: '', ...address1, temporary: true as const, noPrefixRoute: false }],
    };
    expect(lines({ ...after, link: leased }, after)).toEqual([
      'addr replace 10.0.0.11/24 broadcast 10.0.0.255 dev multinic0',
    ]);
  });

  test('restoring the original state goes through down, which drops the routes', () => {
    expect(lines(after, before)).toEqual([
      'link set dev multinic0 down',
      'link set dev multinic0 name ens5',
      'link set dev ens5 mtu 1500',
      'link set dev ens5 addrgenmode eui64',
      'rule del from 10.0.0.11/32 table 100 priority 10100 protocol 4',
      'addr del 10.0.0.11/24 dev ens5',
    ]);
  });

  test('a new address is added before the old deletion, and again afterwards', () => {
    const moved: NicState = {
      link: {
        ...configured,
        addresses: [address('10.0.0.21/24')],
        routes: [route('10.0.0.0/24', { src: '10.0.0.21' })],
      },
      rules: [rule('10.0.0.21')],
    };
    expect(lines(after, moved)).toEqual([
      'addr replace 10.0.0.21/24 dev multinic0',
      'route replace 10.0.0.0/24 dev multinic0 src 10.0.0.21 table 100 proto 4 scope 253 metric 100',
      'rule add from 10.0.0.21/32 table 100 priority 10100 protocol 4',
      'rule del from 10.0.0.11/32 table 100 priority 10100 protocol 4',
      'route del 0.0.0.0/0 via 10.0.0.254 dev multinic0 table 100 proto 4 scope 0 metric 100',
      'addr del 10.0.0.11/24 dev multinic0',
      'addr replace 10.0.0.21/24 dev multinic0',
      'route replace 10.0.0.0/24 dev multinic0 src 10.0.0.21 table 100 proto 4 scope 253 metric 100',
    ]);
  });

  test('secondary addresses are deleted before their primary address', () => {
    const several = {
      ...configured,
      addresses: ['1', '2', '3'].map((n) => address(`10.0.0.${n}/24`)),
    };
    const one = { ...configured, addresses: [address('10.0.0.9/24')] };
    const gone = lines({ link: several, rules: [] }, { link: one, rules: [] });
    expect(gone.filter((line) => line.startsWith('addr del'))).toEqual([
      'addr del 10.0.0.3/24 dev multinic0',
      'addr del 10.0.0.2/24 dev multinic0',
      'addr del 10.0.0.1/24 dev multinic0',
    ]);
  });

  test('an address without a connected route is deleted and added again', () => {
    const hidden = {
      ...configured,
      addresses: [{ cidr: '10.0.0.11/24', broadcast: '10.0.0.255', noPrefixRoute: true }],
    };
    const done = lines({ link: hidden, rules: after.rules }, after);
    expect(done.filter((line) => line.startsWith('addr'))).toEqual([
      'addr replace 10.0.0.11/24 broadcast 10.0.0.255 dev multinic0',
      'addr del 10.0.0.11/24 dev multinic0',
      'addr replace 10.0.0.11/24 broadcast 10.0.0.255 dev multinic0',
    ]);
  });

  test('[RW-42] copies of a wanted rule stay, and a removal deletes each copy with its protocol', () => {
    const copies = [rule('10.0.0.11', { protocol: 2 }), rule('10.0.0.11')];
    expect(lines({ ...after, rules: copies }, after)).toEqual([]);
    expect(lines({ rules: copies }, { rules: [] })).toEqual([
      'rule del from 10.0.0.11/32 table 100 priority 10100 protocol 2',
      'rule del from 10.0.0.11/32 table 100 priority 10100 protocol 4',
    ]);
  });

  test('a boot-time rule by networkd stays, and is deleted with its own protocol', () => {
    const made = { ...after, rules: [rule('10.0.0.11', { protocol: 2 })] };
    expect(lines(after, made)).toEqual([]);
    // Protocol 0, as set by systemd 247 and NetworkManager 1.30.
    expect(lines({ ...after, rules: [rule('10.0.0.11', { protocol: 0 })] }, made)).toEqual([]);
    expect(lines({ rules: after.rules }, { rules: [] })).toEqual([
      'rule del from 10.0.0.11/32 table 100 priority 10100 protocol 4',
    ]);
  });

  test("a legacy agent's rule is replaced: new rule added first", () => {
    const theirs = { ...after, rules: [rule('10.0.0.11', { priority: 32_765, protocol: 0 })] };
    expect(lines(theirs, after)).toEqual([
      'rule add from 10.0.0.11/32 table 100 priority 10100 protocol 4',
      'rule del from 10.0.0.11/32 table 100 priority 32765',
    ]);
  });

  test('an absent NIC needs only rule deletions', () => {
    expect(lines({ rules: after.rules }, { rules: [] })).toEqual([
      'rule del from 10.0.0.11/32 table 100 priority 10100 protocol 4',
    ]);
  });

  test('an idle NIC stays up when losing the link-local address', () => {
    const idle = { ...fresh, up: true, linkLocal: ['fe80::5/64'] };
    const done = lines({ link: idle, rules: [] }, after);
    expect(done).toContain('addr del fe80::5/64 dev multinic0');
    expect(done.filter((line) => /(up|down)$/.test(line))).toEqual([]);
  });

  test('a NIC without addresses loses link-local addresses when the mode changes to none', () => {
    const { linkLocal: _, ...bare } = { ...fresh, up: true, addressMode: 'none' };
    const made = { ...bare, addressMode: 'eui64', linkLocal: ['fe80::5/64'] };
    expect(lines({ link: made, rules: [] }, { link: bare, rules: [] })).toEqual([
      'link set dev ens5 addrgenmode none',
      'addr del fe80::5/64 dev ens5',
    ]);
    expect(
      lines({ link: { ...made, addressMode: 'none' }, rules: [] }, { link: bare, rules: [] }),
    ).toEqual([]);
  });

  test('an idle NIC goes through down to get a kernel-made link-local address', () => {
    const idle = { ...fresh, up: true, addressMode: 'none', linkLocal: [] };
    const used = { ...idle, addressMode: 'eui64', linkLocal: ['fe80::5/64'] };
    const done = lines({ link: idle, rules: [] }, { link: used, rules: [] });
    expect([done[0], done.at(-1)]).toEqual(['link set dev ens5 down', 'link set dev ens5 up']);
    expect(done.filter((line) => line.includes('fe80'))).toEqual([]);
  });

  test('a NIC in use keeps routes and loses only the link-local address', () => {
    const used = { ...configured, addressMode: 'eui64', linkLocal: ['fe80::5/64'] };
    expect(lines({ link: used, rules: after.rules }, after)).toEqual([
      'link set dev multinic0 addrgenmode none',
      'addr del fe80::5/64 dev multinic0',
    ]);
    expect(lines(after, { link: used, rules: after.rules })).toContain(
      'addr replace fe80::5/64 nodad dev multinic0',
    );
  });

  test('a kernel renaming only down links costs the routes, which are set again', () => {
    const misnamed = { link: { ...configured, name: 'ens5' }, rules: after.rules };
    expect(lines(misnamed, after)).toEqual(['link set dev ens5 name multinic0']);
    const done = lines(misnamed, after, { renameDown: true });
    expect(done.slice(0, 3)).toEqual([
      'link set dev ens5 down',
      'link set dev ens5 name multinic0',
      'link set dev multinic0 up',
    ]);
    expect(done.filter((line) => line.startsWith('route replace')).length).toBe(2);
  });

  test('a NIC moves to a temporary name if another NIC needs the current name', () => {
    const change = diffNic(
      { link: { ...configured, name: 'multinic1' }, rules: after.rules },
      after,
      {
        evictTo: 'mntmp7',
      },
    );
    expect(change.eviction).toEqual({ kind: 'link.rename', dev: 'multinic1', to: 'mntmp7' });
    expect(change.operations.map(batchLine)).toEqual(['link set dev mntmp7 name multinic0']);
  });

  test('a host without IPv6 gets no IPv6 settings and no address mode', () => {
    const { addressMode: _, ...four } = { ...fresh, settings: {} };
    const { addressMode: __, ...wanted } = { ...configured, settings: {} };
    const change = diffNic({ link: four, rules: [] }, { link: wanted, rules: [] });
    expect(change.sysctls).toEqual([]);
    expect(change.operations.some(({ kind }) => kind === 'link.address-mode')).toBe(false);
  });
});
