import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { macOf } from '../../../test/fixtures/agent-samples.ts';
import { desired, dual, onlyIpv6, someDesired } from '../../../test/fixtures/desired-nics.ts';
import { ifcfg } from './ifcfg.ts';

const scripts = '/etc/sysconfig/network-scripts';
const nic = dual(1);
const { main, companions } = ifcfg.render(nic);
const files = [...companions, main];

describe('ifcfg backend', () => {
  test('ifcfg renders a NIC with every default written out', () => {
    expect(files.map(({ path, mode }) => [path, mode])).toEqual([
      ['/etc/systemd/network/90-multinic0.link', 0o600],
      [`${scripts}/route-multinic0`, 0o600],
      [`${scripts}/route6-multinic0`, 0o600],
      [`${scripts}/ifcfg-multinic0`, 0o600],
    ]);
    expect(main.text).toBe(`TYPE=Ethernet
NAME=multinic0
UUID=ba9a4d28-7884-5e91-8c41-b4b5abd9f113
DEVICE=multinic0
HWADDR=${macOf(1)}
MACADDR=preserve
MTU=1450
ONBOOT=yes
AUTOCONNECT_PRIORITY=998
BOOTPROTO=none
DEFROUTE=no
IPV4_ROUTE_METRIC=100
IPV6_ROUTE_METRIC=100
ACD_TIMEOUT=0
IPADDR0=10.0.0.1
PREFIX0=24
ROUTING_RULE_1="priority 10100 from 10.0.0.1/32 table 100"
IPV6INIT=yes
IPV6_AUTOCONF=no
IPV6_DEFROUTE=no
IPV6_ADDR_GEN_MODE=eui64
IPV6ADDR=fd00::1/64
IPV6ADDR_SECONDARIES="fd00::1:1/64"
ROUTING_RULE6_1="priority 10100 from fd00::1/128 table 100"
`);
    expect(companions[1]?.text).toBe(`# NIC ${macOf(1)}
10.0.0.0/24 dev multinic0 src 10.0.0.1 table 100 metric 100
0.0.0.0/0 via 10.0.0.254 dev multinic0 table 100 metric 100
10.77.0.0/24 dev multinic0 table 254 metric 100
`);
    expect(companions[2]?.text).toBe(`# NIC ${macOf(1)}
fd00::/64 dev multinic0 src fd00::1 table 100 metric 100
::/0 via fd00::fe dev multinic0 table 100 metric 100
`);
  });

  test('ifcfg disables a family without addresses, and renders no empty route file', () => {
    const four = ifcfg.render(desired(1));
    expect(four.main.text).toMatch(/\nIPV6_ROUTE_METRIC=100\n[\s\S]*\nIPV6_DISABLED=yes\n$/);
    expect(four.companions.map(({ path }) => path)).not.toContain(`${scripts}/route6-multinic0`);
    const six = ifcfg.render(onlyIpv6(1));
    expect(six.main.text).not.toMatch(/IPADDR|ACD/);
    expect(six.main.text).toContain('\nIPV4_ROUTE_METRIC=100\n');
    expect(six.companions).toHaveLength(1);
  });

  test('ifcfg renders placeholder files with a preferred profile', async () => {
    const { interim = [] } = ifcfg.render(nic);
    expect(interim.map(({ path }) => path)).toEqual(
      files.slice(1).map(({ path }) => `${path}-next`),
    );
    expect(interim.slice(0, 2).map(({ text }) => text)).toEqual(
      companions.slice(1).map(({ text }) => text),
    );
    const last = interim.at(-1) ?? main;
    const uuid = /UUID=.*/;
    expect(last.text.replace(uuid, '')).toBe(
      main.text.replace(uuid, '').replace('PRIORITY=998', 'PRIORITY=999'),
    );
    expect(uuid.exec(last.text)?.[0]).not.toBe(uuid.exec(main.text)?.[0]);
    for (const file of interim) {
      ifcfg.validate(file, nic);
      expect((await ifcfg.read(file)).own).toMatchObject({ mac: nic.mac, index: 0 });
    }
    expect(() => ifcfg.validate({ ...last, text: main.text }, nic)).toThrow();
    expect(() => ifcfg.validate({ ...main, text: last.text }, nic)).toThrow();
  });

  test('ifcfg files read back unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(someDesired, async (each) => {
        const rendered = ifcfg.render(each);
        const { mac, index, addresses } = each;
        for (const file of [...rendered.companions, rendered.main]) {
          ifcfg.validate(file, each);
          expect((await ifcfg.read(file)).own).toMatchObject({ mac, index });
        }
        expect((await ifcfg.read(rendered.main)).own).toEqual({ mac, index, addresses });
      }),
    );
  });

  test.each([
    ['another MTU', 'MTU=1450', 'MTU=1400'],
    ['a non-numeric MTU', 'MTU=1450', 'MTU=abc'],
    ['another MAC', macOf(1), macOf(2)],
    ['another uuid', /UUID=./, 'UUID=x'],
    ['another device', 'DEVICE=multinic0', 'DEVICE=multinic1'],
    ['another name', '\nNAME=multinic0', '\nNAME=multinic1'],
    ['a missing address', 'IPV6ADDR_SECONDARIES="fd00::1:1/64"\n', ''],
    ['an address without a prefix', 'PREFIX0=24\n', ''],
    ['another prefix', 'PREFIX0=24', 'PREFIX0=16'],
    ['a gap in the numbering', /IPADDR0(.*)\nPREFIX0/, 'IPADDR1$1\nPREFIX1'],
    ['a missing rule', /ROUTING_RULE_1=.*\n/, ''],
    ['a rule for another table', '10.0.0.1/32 table 100', '10.0.0.1/32 table 101'],
    ['a malformed rule', 'priority 10100 from 10.0.0.1/32', 'from 10.0.0.1/32'],
    ['an IPv6 rule with another priority', 'RULE6_1="priority 10100', 'RULE6_1="priority 10101'],
    ['an automatic default route', 'DEFROUTE=no', 'DEFROUTE=yes'],
    ['an automatic IPv6 default route', 'IPV6_DEFROUTE=no', 'IPV6_DEFROUTE=yes'],
    ['router advertisements enabled', 'IPV6_AUTOCONF=no', 'IPV6_AUTOCONF=yes'],
    ['another subnet metric', 'IPV6_ROUTE_METRIC=100', 'IPV6_ROUTE_METRIC=101'],
    ['a DHCP client', 'BOOTPROTO=none', 'BOOTPROTO=dhcp'],
    ['no start at boot', 'ONBOOT=yes', 'ONBOOT=no'],
    ['IPv6 switched off', 'IPV6INIT=yes', 'IPV6_DISABLED=yes'],
    ['an unknown key', 'ONBOOT=yes', 'ONBOOT=yes\nGATEWAY=10.0.0.254'],
    ['a key twice', 'MTU=1450', 'MTU=1450\nMTU=1450'],
    ['a command', 'MTU=1450', 'MTU=$(id)'],
    ['a malformed line', 'MTU=1450', 'MTU=1450\nMTU'],
    ['a truncated end', /_1="priority 10100 from fd00::1\/128 table 100"\n$/, '_1="'],
  ])('ifcfg validation refuses %s', (_, find, replacement) => {
    const broken = main.text.replace(find, replacement);
    expect(broken).not.toBe(main.text);
    expect(() => ifcfg.validate({ ...main, text: broken }, nic)).toThrow();
  });

  test.each([
    ['another table', 'table 254', 'table 100'],
    ['another metric', 'metric 100', 'metric 7'],
    ['another link', 'dev multinic0', 'dev multinic1'],
    ['another source', 'src 10.0.0.1', 'src 10.0.0.2'],
    ['a missing next hop', ' via 10.0.0.254', ''],
    ['a missing route', /10\.77.*\n/, ''],
    ['a malformed line', '10.77.0.0/24 ', 'garbage '],
    ['another owner', macOf(1), macOf(2)],
    ['no owner', /^#.*\n/, ''],
    ['a truncated end', /\n$/, ''],
  ])('ifcfg validation refuses routes with %s', (_, find, replacement) => {
    const [, routes = main] = companions;
    const broken = routes.text.replace(find, replacement);
    expect(broken).not.toBe(routes.text);
    expect(() => ifcfg.validate({ ...routes, text: broken }, nic)).toThrow();
  });

  test('ifcfg validation refuses routes in the wrong file, and a .link file without a name', () => {
    const [link = main, routes = main, routes6 = main] = companions;
    expect(() => ifcfg.validate({ ...routes, text: routes6.text }, nic)).toThrow();
    expect(() => ifcfg.validate({ ...routes6, text: routes.text }, nic)).toThrow();
    expect(() => ifcfg.validate({ ...link, text: '[Match]\n' }, nic)).toThrow();
  });

  test('ifcfg validation refuses routes for a family without an address', () => {
    const bare = { ...nic, addresses: ['10.0.0.1/24'], rules: [] };
    const [, , routes6 = main] = ifcfg.render(bare).companions;
    expect(() => ifcfg.validate(routes6, bare)).toThrow('has no IPv6 address for its routes');
  });

  test("ifcfg and keyfile backends recognise each other's files", async () => {
    const { keyfile } = await import('./keyfile.ts');
    for (const file of files) {
      expect((await keyfile.read(file)).own).toMatchObject({ mac: nic.mac, index: 0 });
    }
    const { own } = await ifcfg.read(keyfile.render(nic).main);
    expect(own).toEqual({ mac: nic.mac, index: 0, addresses: nic.addresses });
  });
});
