import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { macOf } from '../../../test/fixtures/agent-samples.ts';
import { desired, dual, onlyIpv6, someDesired } from '../../../test/fixtures/desired-nics.ts';
import { networkd } from './networkd.ts';

const nic = dual(1);
const { main, companions } = networkd.render(nic);

describe('networkd', () => {
  test('renders one NIC, for a boot that leaves nothing to chance', () => {
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

  test('has link-local addresses exactly with IPv6', () => {
    expect(networkd.render(desired(1)).main.text).toContain('\nLinkLocalAddressing=no\n');
    expect(networkd.render(onlyIpv6(1)).main.text).toContain('\nLinkLocalAddressing=ipv6\n');
  });

  test('what it renders reads back the same', async () => {
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
    ['an MTU that is no number', 'MTUBytes=1450', 'MTUBytes=1450K'],
    ['another name', 'Name=multinic0', 'Name=multinic1'],
    ['every name', 'Name=multinic0\n', ''],
    ['another MAC', macOf(1), macOf(2)],
    ['a MAC more', `MACAddress=${macOf(1)}`, `MACAddress=${macOf(1)}\nMACAddress=${macOf(2)}`],
    ['a missing address', 'Address=fd00::1:1/64\n', ''],
    ['addresses in another order', /(Address=fd00::1.64\n)(.*\n)/, '$2$1'],
    ['a missing rule', /\[RoutingPolicyRule\]\nFrom=fd[\s\S]*$/, ''],
    ['another table', 'Table=254', 'Table=100'],
    ['a route without a table', 'Table=254\n', ''],
    ['a route that lacks its next hop', 'Gateway=10.0.0.254\n', ''],
    ['a route of another scope', 'Scope=link\nTable', 'Scope=host\nTable'],
    ['a route without its scope', 'Scope=link\nTable', 'Table'],
    ['a route without its source', 'PreferredSource=fd00::1\n', ''],
    ['a route without a metric', 'Table=254\nMetric=100', 'Table=254'],
    ['a rule at another priority', 'Priority=10100', 'Priority=10101'],
    ['a rule that says more', 'Priority=10100', 'Priority=10100\nIncomingInterface=x'],
    ['a DHCP client', 'DHCP=no', 'DHCP=yes'],
    ['router advertisements', 'IPv6AcceptRA=no', 'IPv6AcceptRA=yes'],
    ['no link-local addresses', 'LinkLocalAddressing=ipv6', 'LinkLocalAddressing=no'],
    ['a boot that waits for it', 'RequiredForOnline=no\n', ''],
    ['a section nobody knows', '[RoutingPolicyRule]', '[DHCPv4]\nUseDNS=no\n\n[RoutingPolicyRule]'],
    ['a section of its own twice', '[Network]', '[Link]\nMTUBytes=1450\n\n[Network]'],
    ['a line that is none', 'MTUBytes=1450', 'MTUBytes=1450\nMTU'],
    ['what comes before all sections', '[Match]', 'x=y\n[Match]'],
    ['a section of another name', '[Match]', '[Matches]'],
    ['a rule in another section', '[RoutingPolicyRule]', '[NextHop]'],
    ['a section that is set in', '[Network]', ' [Network]'],
    ['nothing in it', /[\s\S]*/, ''],
  ])('refuses a text with %s', (_, find, replacement) => {
    const broken = main.text.replace(find, replacement);
    expect(broken).not.toBe(main.text);
    expect(() => networkd.validate({ ...main, text: broken }, nic)).toThrow();
  });
});
