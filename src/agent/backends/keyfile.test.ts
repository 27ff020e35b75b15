import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { macOf } from '../../../test/fixtures/agent-samples.ts';
import { desired, dual, onlyIpv6, someDesired } from '../../../test/fixtures/desired-nics.ts';
import { keyfile } from './keyfile.ts';

const nic = dual(1);
const { main, companions } = keyfile.render(nic);

describe('keyfile backend', () => {
  test('[RW-19] keyfile renders a NIC with every default written out', () => {
    expect(companions).toMatchObject([
      { path: '/etc/systemd/network/90-multinic0.link', mode: 0o644 },
    ]);
    expect(main).toEqual({
      path: '/etc/NetworkManager/system-connections/90-multinic0.nmconnection',
      mode: 0o600,
      text: `[connection]
id=multinic0
uuid=ba9a4d28-7884-5e91-8c41-b4b5abd9f113
type=ethernet
interface-name=multinic0
autoconnect-priority=999

[ethernet]
cloned-mac-address=preserve
mac-address=${macOf(1)}
mtu=1450

[ipv4]
method=manual
address1=10.0.0.1/24
dad-timeout=0
never-default=true
route-metric=100
route1=10.0.0.0/24,0.0.0.0,100
route1_options=table=100,src=10.0.0.1
route2=0.0.0.0/0,10.0.0.254,100
route2_options=table=100
route3=10.77.0.0/24,0.0.0.0,100
route3_options=table=254
routing-rule1=priority 10100 from 10.0.0.1/32 table 100

[ipv6]
method=manual
address1=fd00::1/64
address2=fd00::1:1/64
addr-gen-mode=eui64
never-default=true
route-metric=100
route1=fd00::/64,::,100
route1_options=table=100,src=fd00::1
route2=::/0,fd00::fe,100
route2_options=table=100
routing-rule1=priority 10100 from fd00::1/128 table 100
`,
    });
  });

  test('keyfile disables a family without addresses, and still sets the metric', () => {
    expect(keyfile.render(desired(1)).main.text).toMatch(
      /\[ipv6\]\nmethod=disabled\nroute-metric=100\n$/,
    );
    expect(keyfile.render(onlyIpv6(1)).main.text).toContain(
      '[ipv4]\nmethod=disabled\nroute-metric=100\n\n',
    );
  });

  test('keyfile gives each NIC a unique UUID, stable across runs', () => {
    const uuidOf = (of = nic) => /^uuid=(.*)$/m.exec(keyfile.render(of).main.text)?.[1] ?? '';
    expect(uuidOf()).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    expect(uuidOf()).toMatch(/^.{14}5.{4}[89ab]/);
    expect(uuidOf(desired(1, { mtu: 9000 }))).toBe(uuidOf());
    expect(uuidOf({ ...nic, mac: macOf(2) })).not.toBe(uuidOf());
    expect(uuidOf({ ...nic, name: 'multinic1' })).not.toBe(uuidOf());
  });

  test('keyfile files read back unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(someDesired, async (each) => {
        const rendered = keyfile.render(each);
        for (const file of [...rendered.companions, rendered.main]) keyfile.validate(file, each);
        const { mac, index, addresses } = each;
        const { own } = await keyfile.read(rendered.main);
        expect(own).toEqual({ mac, index, addresses });
      }),
    );
  });

  test.each([
    ['another MTU', 'mtu=1450', 'mtu=1400'],
    ['a non-numeric MTU', 'mtu=1450', 'mtu=big'],
    ['another uuid', /uuid=./, 'uuid=x'],
    ['another name', 'interface-name=multinic0', 'interface-name=multinic1'],
    ['another MAC', macOf(1), macOf(2)],
    ['a missing address', 'address2=fd00::1:1/64\n', ''],
    ['a gap in the numbering', 'address2=', 'address3='],
    ['a missing rule', /routing-rule1=.*\n/, ''],
    ["rules in the legacy agent's form", 'routing-rule1=', 'routing-rules='],
    ['another table', 'table=254', 'table=100'],
    ['a route without a table', 'route3_options=table=254\n', ''],
    ['a missing next hop', '10.0.0.254,', '0.0.0.0,'],
    ['a route without a metric', '10.77.0.0/24,0.0.0.0,100', '10.77.0.0/24,0.0.0.0'],
    ['a rule at another priority', 'priority 10100', 'priority 10101'],
    ['a rule with a further selector', '10.0.0.1/32 table 100', '10.0.0.1/32 table 100 iif x'],
    ['an automatic default route', 'never-default=true', 'never-default=false'],
    ['another subnet metric', 'route-metric=100', 'route-metric=101'],
    ['a DHCP client', 'method=manual', 'method=auto'],
    ['a family switched off', /\[ipv6\][\s\S]*$/, '[ipv6]\nmethod=disabled\nroute-metric=100\n'],
    ['a table for all routes', 'route-metric=100', 'route-metric=100\nroute-table=100'],
    ['an unknown section', '[ipv4]', '[user]\nx=y\n\n[ipv4]'],
    ['a key twice', 'mtu=1450', 'mtu=1450\nmtu=1450'],
    ['a malformed line', 'mtu=1450', 'mtu=1450\nmtu'],
  ])('keyfile validation refuses %s', (_, find, replacement) => {
    const broken = main.text.replace(find, replacement);
    expect(broken).not.toBe(main.text);
    expect(() => keyfile.validate({ ...main, text: broken }, nic)).toThrow();
  });

  test('keyfile validation refuses routes for a family without an address', () => {
    const bare = { ...nic, addresses: ['10.0.0.1/24'] };
    expect(() => keyfile.validate(keyfile.render(bare).main, bare)).toThrow();
  });

  test('keyfile validation refuses a .link file without a name', () => {
    const [link] = companions;
    if (!link) throw new Error('no file of the name');
    expect(() => keyfile.validate({ ...link, text: '[Match]\n' }, nic)).toThrow();
  });
});
