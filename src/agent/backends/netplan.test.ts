import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { entry, link, macOf } from '../../../test/fixtures/agent-samples.ts';
import { desiredNic } from '../planning/desired.ts';
import { netplan } from './netplan.ts';
import { readBlockYaml } from './netplan-document.ts';

const path = '/etc/netplan/90-multinic0.yaml';
const nic = desiredNic(entry(1, { routes: [{ to: '10.77.0.0/24' }] }), 0, link(1), []);

/** File written by the legacy agent, byte for byte. */
const deployed = `network:
    ethernets:
        multinic0:
            addresses:
                - 11.11.11.132/24
            dhcp4: false
            match:
                macaddress: FA:16:3e:fb:9b:68
            mtu: 1450
            routes:
                - metric: 100
                  table: 100
                  to: 11.11.11.0/24
            routing-policy:
                - from: 11.11.11.132/24
                  table: 100
            set-name: multinic0
    version: 2
`;

const second = `        multinic1: {match: {macaddress: "fa:16:3e:fb:9b:68"}, set-name: multinic1}
`;

const someNic = fc
  .record({
    n: fc.integer({ min: 1, max: 250 }),
    index: fc.nat(9),
    mtu: fc.integer({ min: 68, max: 65_535 }),
    extra: fc.uniqueArray(fc.nat(99), { maxLength: 5 }),
    gateway: fc.boolean(),
    six: fc.boolean(),
    routing: fc.constantFrom('pbr', 'main', 'isolated'),
  })
  .map(({ n, index, mtu, extra, gateway, six, routing }) => {
    const { gateway: way, ...rest } = entry(n, {
      mtu,
      routing,
      addresses: [`10.0.0.${n}/24`, ...extra.map((m) => `10.${m + 1}.0.${n}/${20 + (m % 13)}`)],
      routes: extra.map((m) => ({
        to: `172.${m}.0.0/16`,
        ...(m % 2 ? { via: '10.0.0.253' } : { metric: m }),
      })),
    });
    const wanted = gateway && way ? { ...rest, gateway: way } : rest;
    const addresses = [...wanted.addresses, `fd00::${n}/64`, `fd01::${n}/128`];
    const dual = { ...wanted, addresses, gateway6: 'fe80::1' };
    return desiredNic(six ? dual : wanted, index, link(n), []);
  });

describe('netplan backend', () => {
  test('[RW-28] [RW-88] netplan renders a NIC with every default written out', () => {
    expect(netplan.render(nic)).toEqual({
      companions: [],
      main: {
        path,
        mode: 0o600,
        text: `network:
  version: 2
  ethernets:
    00-multinic0:
      match:
        macaddress: "${macOf(1)}"
      set-name: multinic0
      optional: true
      mtu: 1450
      dhcp4: false
      dhcp6: false
      accept-ra: false
      link-local: []
      addresses:
        - "10.0.0.1/24"
      routes:
        - to: "10.0.0.0/24"
          scope: link
          from: "10.0.0.1"
          table: 100
          metric: 100
        - to: "0.0.0.0/0"
          via: "10.0.0.254"
          table: 100
          metric: 100
        - to: "10.77.0.0/24"
          scope: link
          table: 100
          metric: 100
      routing-policy:
        - from: "10.0.0.1/32"
          table: 100
          priority: 10100
`,
      },
    });
  });

  test('netplan files read back unchanged, also by a YAML parser', () => {
    fc.assert(
      fc.property(someNic, (each) => {
        const file = netplan.render(each).main;
        netplan.validate(file, each);
        expect(readBlockYaml(file.text)).toEqual(parse(file.text, { version: '1.1' }));
      }),
    );
  });

  test('[RW-31] netplan routes are valid for netplan 0.101: each has a next hop or link scope', () => {
    const addresses = ['10.0.0.1/24', 'fd00::1/64', 'fd01::1/64'];
    const wanted = entry(1, { addresses, gateway6: 'fd00::fe', routes: [{ to: 'fd07::/48' }] });
    const { text } = netplan.render(desiredNic(wanted, 0, link(1), [])).main;
    const routes = text.split('        - to: ').slice(1);
    expect(routes.length).toBeGreaterThan(3);
    for (const lines of routes) expect(lines).toMatch(/\n {10}(via: "|scope: link\n)/);
    expect(text).not.toContain('to: default');
  });

  test('netplan renders link-local addressing only for a NIC with IPv6', () => {
    const addresses = ['10.0.0.1/24', 'fd00::1/64'];
    const dual = desiredNic(entry(1, { addresses, gateway6: 'fe80::1' }), 0, link(1), []);
    const { text } = netplan.render(dual).main;
    expect(text).toContain('      link-local:\n        - ipv6\n');
    expect(text).toContain('        - to: "::/0"\n          via: "fe80::1"\n');
    expect(text).toContain('        - from: "fd00::1/128"\n');
    const without = text.replace('link-local:\n        - ipv6', 'link-local: []');
    expect(() => netplan.validate({ path, text: without }, dual)).toThrow();
  });

  test.each([
    ['another MTU', /mtu: \d+/, 'mtu: 1400'],
    ['a missing rule', /\n {6}routing-policy:[\s\S]*$/, '\n'],
    ['another table', /table: 100\n {10}priority/, 'table: 101\n          priority'],
    ['a missing next hop', / {10}via: .*\n/, ''],
    ['an unknown key', /optional/, 'opti0nal'],
  ])('netplan validation refuses %s', (_, pattern, replacement) => {
    const { text } = netplan.render(nic).main;
    const broken = text.replace(pattern, replacement);
    expect(broken).not.toBe(text);
    expect(() => netplan.validate({ path, text: broken }, nic)).toThrow();
  });

  test('netplan.read recognises its own files and legacy files', async () => {
    const own = await netplan.read(netplan.render(nic).main);
    expect(own.own).toEqual({ mac: macOf(1), index: 0, addresses: ['10.0.0.1/24'] });
    const theirs = await netplan.read({
      path: '/etc/netplan/94-multinic4.yaml',
      text: deployed.replace('    version: 2\n', ''),
      mode: 0o644,
    });
    expect(theirs.own).toEqual({
      mac: 'fa:16:3e:fb:9b:68',
      index: 0,
      addresses: ['11.11.11.132/24'],
    });
  });

  test.each([
    ['another file name', '/etc/netplan/60-multinic0.yaml', deployed],
    ['two NICs', path, deployed.replace('    version: 2', `${second}    version: 2`)],
    ['a bridge beside it', path, `${deployed.trimEnd()}\n    bridges: {br0: {}}\n`],
    [
      'another match',
      path,
      deployed.replace('macaddress:', 'driver: virtio\n                macaddress:'),
    ],
    ['another interface name', path, deployed.replace('set-name: multinic0', 'set-name: data0')],
  ])('netplan.read does not recognise a file with %s', async (_, at, text) => {
    const file = await netplan.read({ path: at, text, mode: 0o600 });
    expect(file.own).toBeUndefined();
    expect(new Set(file.macs)).toEqual(new Set(['fa:16:3e:fb:9b:68']));
  });

  test.each([
    ['no MAC', 'network: {version: 2}'],
    ['no YAML', 'macaddress: "x\n - ]'],
    ['a MAC in a comment', '# macaddress: fa:16:3e:fb:9b:68\nnetwork: {}'],
    ['nothing', ''],
  ])('netplan.read returns no MAC for a file with %s', async (_, text) => {
    expect(await netplan.read({ path, text, mode: 0o600 })).toMatchObject({ macs: [] });
  });

  test('netplan.read returns MACs from a cloud-init file', async () => {
    const text = `network:
  ethernets:
    eth0: {match: {macaddress: "FA:16:3E:00:00:01"}, set-name: eth0, dhcp4: true}
    eth1: {match: {name: "en*"}}
`;
    const file = await netplan.read({ path: '/etc/netplan/50-cloud-init.yaml', text, mode: 0o600 });
    expect(file.macs).toEqual(['fa:16:3e:00:00:01']);
  });

  test('netplan.held parses generated networkd files for managed NICs only', () => {
    const name = '/run/systemd/network/10-netplan-multinic4.network';
    const text = `[Match]
PermanentMACAddress=FA:16:3E:FB:9B:68
Name=multinic4

[Network]
Address=10.0.0.11/16
Address=10.0.0.12/16

[Route]
Gateway=10.0.0.1
`;
    expect(netplan.held({ path: name, text, mode: 0o644 })).toEqual({
      mac: 'fa:16:3e:fb:9b:68',
      index: 4,
      addresses: ['10.0.0.11/16', '10.0.0.12/16'],
    });
    const old = text.replace('Permanent', '');
    expect(netplan.held({ path: name, text: old, mode: 0o644 })?.mac).toBe('fa:16:3e:fb:9b:68');
    const now = name.replace('multinic4', '00-multinic4');
    expect(netplan.held({ path: now, text, mode: 0o644 })?.index).toBe(4);
    const theirs = name.replace('multinic4', 'data4');
    expect(netplan.held({ path: theirs, text, mode: 0o644 })).toBeUndefined();
    expect(netplan.held({ path: name, text: '', mode: 0 })).toBeUndefined();
  });
});

const claims = async (text: string) => {
  const {
    macs,
    names = [],
    leases = [],
    patterns = [],
  } = await netplan.read({
    path: '/etc/netplan/50-theirs.yaml',
    text,
    mode: 0o600,
  });
  return { macs, names, leases, patterns };
};

describe('foreign netplan files', () => {
  const none = { macs: [], names: [], leases: [], patterns: [] };

  test.each([
    ['by name', 'ethernets: {ens5: {dhcp4: true}}', { ...none, names: ['ens5'] }],
    ['by a match name', 'ethernets: {a: {match: {name: ens5}}}', { ...none, names: ['ens5'] }],
    ['as a member of a bond', 'bonds: {b: {interfaces: [ens5]}}', { ...none, names: ['ens5'] }],
    [
      'by the assigned MAC',
      'ethernets: {a: {match: {name: ens5}, macaddress: "FA:16:3E:00:00:01"}}',
      { ...none, names: ['ens5'], macs: ['fa:16:3e:00:00:01'] },
    ],
    ['as a port of a bridge', 'bridges: {b: {interfaces: [ens5]}}', { ...none, names: ['ens5'] }],
    ['below a vlan', 'vlans: {v: {id: 5, link: ens5}}', { ...none, names: ['ens5'] }],
    [
      'as a member matched by MAC',
      'ethernets: {a: {match: {macaddress: "FA:16:3E:00:00:01"}}}, bonds: {b: {interfaces: [a]}}',
      { ...none, macs: ['fa:16:3e:00:00:01'] },
    ],
    [
      'by name pattern, by DHCP',
      'ethernets: {a: {match: {name: "en*"}, dhcp4: yes}}',
      { ...none, leases: ['en*'] },
    ],
    [
      'by name pattern, by DHCP in short form',
      'ethernets: {a: {match: {name: "en*"}, dhcp4: y}}',
      { ...none, leases: ['en*'] },
    ],
    ['by name pattern', 'ethernets: {a: {match: {name: "en*"}}}', { ...none, patterns: ['en*'] }],
    [
      'by driver, possibly any NIC',
      'ethernets: {a: {match: {driver: "virtio*"}, dhcp4: true}}',
      { ...none, leases: ['*'] },
    ],
    ['as every NIC', 'ethernets: {a: {match: {}}}', { ...none, patterns: ['*'] }],
    [
      'by MAC, despite a name pattern',
      'ethernets: {a: {match: {name: "en*", macaddress: "fa:16:3e:00:00:01"}, dhcp4: true}}',
      { ...none, macs: ['fa:16:3e:00:00:01'] },
    ],
  ])('a foreign netplan file configures a NIC %s', async (_, body, wanted) => {
    expect(await claims(`network: {version: 2, ${body}}`)).toEqual(wanted);
  });

  test('a malformed netplan file may configure every NIC it mentions', async () => {
    const text = 'network: {ethernets: {ens5: {dhcp4: true, dhcp4: true, mac: "FA:16:3E:00:00:01"}';
    const { macs, names } = await claims(text);
    expect(macs).toEqual(['fa:16:3e:00:00:01']);
    expect(names).toContain('ens5');
  });

  test.each(['', '# nothing', '{}', 'network: {version: 2}'])(
    'a netplan file with content %j configures no NIC',
    async (text) => {
      expect(await claims(text)).toEqual(none);
    },
  );
});
