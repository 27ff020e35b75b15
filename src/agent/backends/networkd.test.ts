import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { macOf } from '../../../test/fixtures/agent-samples.ts';
import { desired, dual, onlyIpv6, someDesired } from '../../../test/fixtures/desired-nics.ts';
import { networkd } from './networkd.ts';

const nic = dual(1);
const { main, companions } = networkd.render(nic);

describe('networkd backend', () => {
  test('networkd renders a NIC with every default written out', () => {
    expect(companions).toMatchObject([
      { path: '/etc/systemd/network/90-multinic0.link', mode: 0o644 },
    ]);
    expect(main).toEqual({
      path: '/etc/systemd/network/90-multinic0.network',
      mode: 0o644,
      text: `[Match]
MACAddress=${macOf(1)}
Name=multinic0

[Link]
MTUBytes=1450
RequiredForOnline=no

[Network]
DHCP=no
IPv6AcceptRA=no
LinkLocalAddressing=ipv6
Address=10.0.0.1/24
Address=fd00::1/64
Address=fd00::1:1/64

[Route]
Destination=10.0.0.0/24
Scope=link
PreferredSource=10.0.0.1
Table=100
Metric=100

[Route]
Destination=0.0.0.0/0
Gateway=10.0.0.254
Table=100
Metric=100

[Route]
Destination=10.77.0.0/24
Scope=link
Table=254
Metric=100

[Route]
Destination=fd00::/64
PreferredSource=fd00::1
Table=100
Metric=100

[Route]
Destination=::/0
Gateway=fd00::fe
Table=100
Metric=100

[RoutingPolicyRule]
From=10.0.0.1/32
Table=100
Priority=10100

[RoutingPolicyRule]
From=fd00::1/128
Table=100
Priority=10100
`,
    });
  });

  test('networkd renders link-local addressing only for a NIC with IPv6', () => {
    expect(networkd.render(desired(1)).main.text).toContain('\nLinkLocalAddressing=no\n');
    expect(networkd.render(onlyIpv6(1)).main.text).toContain('\nLinkLocalAddressing=ipv6\n');
  });

  test('networkd files read back unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(someDesired, async (each) => {
        const rendered = networkd.render(each);
        for (const file of [...rendered.companions, rendered.main]) networkd.validate(file, each);
        const { mac, index, addresses } = each;
        const { own } = await networkd.read(rendered.main);
        expect(own).toEqual({ mac, index, addresses });
      }),
    );
  });

  test.each([
    ['another MTU', 'MTUBytes=1450', 'MTUBytes=1400'],
    ['a non-numeric MTU', 'MTUBytes=1450', 'MTUBytes=1450K'],
    ['another name', 'Name=multinic0', 'Name=multinic1'],
    ['no name', 'Name=multinic0\n', ''],
    ['another MAC', macOf(1), macOf(2)],
    ['a second MAC', `MACAddress=${macOf(1)}`, `MACAddress=${macOf(1)}\nMACAddress=${macOf(2)}`],
    ['a missing address', 'Address=fd00::1:1/64\n', ''],
    ['addresses in another order', /(Address=fd00::1.64\n)(.*\n)/, '$2$1'],
    ['a missing rule', /\[RoutingPolicyRule\]\nFrom=fd[\s\S]*$/, ''],
    ['another table', 'Table=254', 'Table=100'],
    ['a route without a table', 'Table=254\n', ''],
    ['a missing next hop', 'Gateway=10.0.0.254\n', ''],
    ['a route with another scope', 'Scope=link\nTable', 'Scope=host\nTable'],
    ['a route without its scope', 'Scope=link\nTable', 'Table'],
    ['a route without its source', 'PreferredSource=fd00::1\n', ''],
    ['a route without a metric', 'Table=254\nMetric=100', 'Table=254'],
    ['a rule at another priority', 'Priority=10100', 'Priority=10101'],
    ['a rule with a further selector', 'Priority=10100', 'Priority=10100\nIncomingInterface=x'],
    ['a DHCP client', 'DHCP=no', 'DHCP=yes'],
    ['router advertisements', 'IPv6AcceptRA=no', 'IPv6AcceptRA=yes'],
    ['no link-local addresses', 'LinkLocalAddressing=ipv6', 'LinkLocalAddressing=no'],
    ['a boot waiting for the NIC', 'RequiredForOnline=no\n', ''],
    ['an unknown section', '[RoutingPolicyRule]', '[DHCPv4]\nUseDNS=no\n\n[RoutingPolicyRule]'],
    ['a repeated section', '[Network]', '[Link]\nMTUBytes=1450\n\n[Network]'],
    ['a malformed line', 'MTUBytes=1450', 'MTUBytes=1450\nMTU'],
    ['a line before all sections', '[Match]', 'x=y\n[Match]'],
    ['a misnamed section', '[Match]', '[Matches]'],
    ['a rule in another section', '[RoutingPolicyRule]', '[NextHop]'],
    ['an indented section', '[Network]', ' [Network]'],
    ['no content', /[\s\S]*/, ''],
  ])('networkd validation refuses %s', (_, find, replacement) => {
    const broken = main.text.replace(find, replacement);
    expect(broken).not.toBe(main.text);
    expect(() => networkd.validate({ ...main, text: broken }, nic)).toThrow();
  });
});
