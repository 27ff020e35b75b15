import { describe, expect, test } from 'vitest';
import { readIfcfg } from './ifcfg-claims.ts';
import { nicHead } from './nic-head.ts';

const mac = 'fa:16:3e:fb:9b:68';
const scripts = '/etc/sysconfig/network-scripts';
const none = { macs: [], names: [], leases: [], patterns: [] };

const read = (name: string, text: string) =>
  readIfcfg({ path: `${scripts}/${name}`, text, mode: 0o644 });

function claims(text: string, name = 'ifcfg-ens9') {
  const { own, macs, names = [], leases = [], patterns = [] } = read(name, text);
  expect(own).toBeUndefined();
  return { macs, names, leases, patterns };
}

/** File written by the generation before the legacy agent. */
const earlier = `DEVICE=multinic0
NAME=multinic0
TYPE=Ethernet
ONBOOT=yes
BOOTPROTO=none
IPADDR=11.11.11.132
PREFIX=24
MTU=1450
HWADDR=${mac}
`;

describe('managed ifcfg files', () => {
  test("readIfcfg recognises an earlier generation's file", () => {
    expect(read('ifcfg-multinic4', earlier).own).toEqual({
      mac,
      index: 0,
      addresses: ['11.11.11.132/24'],
    });
  });

  test('readIfcfg returns all addresses in a managed file', () => {
    const text = `DEVICE="multinic3"
HWADDR='${mac.toUpperCase()}'
IPADDR0=10.0.0.1
PREFIX0=24
IPADDR1=10.0.0.2 # second
PREFIX1=16
IPADDR2=10.0.0.3
IPV6ADDR=fd00::1/64
IPV6ADDR_SECONDARIES="fd00::2/64 fd00::3/64"
`;
    expect(read('ifcfg-multinic3', text).own).toEqual({
      mac,
      index: 3,
      addresses: [
        '10.0.0.1/24',
        '10.0.0.2/16',
        '10.0.0.3/32',
        'fd00::1/64',
        'fd00::2/64',
        'fd00::3/64',
      ],
    });
  });

  test.each(['route-multinic4', 'route6-multinic4'])(
    'readIfcfg recognises %s by the MAC in its first line',
    (name) => {
      const text = `${nicHead(mac)}\n10.1.0.0/16 via 10.0.0.254\n`;
      const { own, macs } = read(name, text);
      expect({ own, macs }).toEqual({ own: { mac, index: 4, addresses: [] }, macs: [mac] });
    },
  );

  test.each([
    ['ifcfg-ens5', earlier],
    ['ifcfg-multinic0', earlier.replace(/HWADDR=.*\n/, '')],
    ['ifcfg-multinic0', earlier.replace('DEVICE=multinic0', 'DEVICE=data0')],
    ['ifcfg-multinic0', earlier.replace('DEVICE=multinic0', 'DEVICE=multinic10')],
    ['route-multinic4', '10.1.0.0/16 via 10.0.0.254\n'],
    ['route-ens5', `${nicHead(mac)}\n`],
    ['route-multinic10', `${nicHead(mac)}\n`],
  ])('readIfcfg does not recognise %s with %j', (name, text) => {
    expect(read(name, text).own).toBeUndefined();
  });
});

describe('foreign ifcfg files', () => {
  test.each([
    ['by name', 'DEVICE=ens5', { ...none, names: ['ens5'] }],
    [
      'by MAC, whatever the name',
      `DEVICE=ens5\nHWADDR=${mac.toUpperCase()}`,
      { ...none, macs: [mac] },
    ],
    [
      'by the assigned MAC',
      `DEVICE=ens5\nMACADDR=${mac}`,
      { ...none, macs: [mac], names: ['ens5'] },
    ],
    [
      'by MAC with hyphens and shell quotes',
      `HWADDR="${mac.toUpperCase().slice(0, 8).replaceAll(':', '-')}"'${mac.slice(8).replaceAll(':', '-')}' # port`,
      { ...none, macs: [mac] },
    ],
    ['by a partly quoted name', 'DEVICE="en"s\\5', { ...none, names: ['ens5'] }],
    [
      'by several patterns',
      'MATCH_INTERFACE_NAME="|ens* !ens3 &e*"',
      { ...none, patterns: ['ens*', 'e*'] },
    ],
    ['by excluding a name', 'MATCH_INTERFACE_NAME=!ens3', { ...none, patterns: ['*'] }],
    ['as a port of a bond', 'DEVICE=ens5\nMASTER=bond0\nSLAVE=yes', { ...none, names: ['ens5'] }],
    ['below a VLAN', 'VLAN=yes\nDEVICE=v5\nPHYSDEV=ens5', { ...none, names: ['v5', 'ens5'] }],
    ['below a VLAN named after the NIC', 'VLAN=yes\nDEVICE=ens5.10', { ...none, names: ['ens5'] }],
    ['by an alias name', 'DEVICE=ens5:1', { ...none, names: ['ens5'] }],
    ['by the file name', 'BOOTPROTO=dhcp', { ...none, names: ['ens9'] }],
    ["by a name in NetworkManager's quotes", "DEVICE=$'en\\'s5'", { ...none, names: ["en's5"] }],
    // As written by `nmcli connection add type ethernet ifname '*'`.
    [
      'as every NIC, by DHCP',
      'TYPE=Ethernet\nBOOTPROTO=dhcp',
      { ...none, names: ['ens9'], leases: ['*'] },
    ],
    ['as every NIC', 'TYPE="ethernet"', { ...none, names: ['ens9'], patterns: ['*'] }],
    [
      'as every NIC, and assigns a MAC',
      `TYPE=Ethernet\nMACADDR=${mac}`,
      { ...none, macs: [mac], names: ['ens9'], patterns: ['*'] },
    ],
    ['only on request', 'TYPE=Ethernet\nONBOOT=no', { ...none, names: ['ens9'] }],
    [
      'only on request, with another boolean',
      'TYPE=Ethernet\nONBOOT=F',
      { ...none, names: ['ens9'] },
    ],
    [
      'by MAC, below a VLAN',
      `HWADDR=${mac}\nDEVICE=v5\nPHYSDEV=ens5`,
      { ...none, macs: [mac], names: ['ens5'] },
    ],
    [
      'as every NIC, by BOOTP',
      'MATCH_INTERFACE_NAME=*\nBOOTPROTO=BOOTP',
      { ...none, leases: ['*'] },
    ],
    ['with another type', 'TYPE=Bond', { ...none, names: ['ens9'] }],
    [
      'by name pattern, by DHCP',
      'MATCH_INTERFACE_NAME="ens* eth?"\nBOOTPROTO=dhcp',
      { ...none, leases: ['ens*', 'eth?'] },
    ],
    [
      'by name pattern',
      'MATCH_INTERFACE_NAME=ens*\nBOOTPROTO=none',
      { ...none, patterns: ['ens*'] },
    ],
  ])('a foreign ifcfg file configures a NIC %s', (_, text, wanted) => {
    expect(claims(`${text}\n`)).toEqual(wanted);
  });

  test('readIfcfg returns names and MACs excluded in a foreign file', () => {
    const lines = 'TYPE=Ethernet\nMATCH_INTERFACE_NAME="en* !ens3"\n';
    const text = `${lines}HWADDR_BLACKLIST="${mac.toUpperCase()} 02-00-00-00-00-07"\n`;
    const [first, second] = [mac, '02:00:00:00:00:07'];
    expect(read('ifcfg-all', text).except).toEqual(['ens3', first, second]);
    const every = text.replace(/MATCH.*\n/, '');
    expect(read('ifcfg-all', every)).toMatchObject({ patterns: ['*'], except: [first, second] });
  });

  test.each(['rule-multinic0', 'rule6-multinic0'])(
    "%s stops NetworkManager from reading the NIC's routes",
    (name) => {
      expect(claims('from 10.0.0.1 table 100\n', name)).toEqual({ ...none, names: ['multinic0'] });
    },
  );

  test.each([
    'ifcfg-lo',
    'ifcfg-ens5.bak',
    'ifcfg-ens5~',
    'ifcfg-ens5.orig',
    'ifcfg-ens5.rpmnew',
    'ifcfg-ens5.augtmp',
    'keys-ens5',
    'ifup-eth',
    'network-functions',
    'route-ens5',
  ])('%s configures no NIC', (name) => {
    expect(claims(`DEVICE=ens5\nHWADDR=${mac}\n`, name)).toEqual(none);
  });

  test('readIfcfg returns no secrets', () => {
    const text = 'DEVICE=ens5\nIEEE_8021X_PASSWORD=hunter2\n# KEY=hunter2\n';
    const { text: _, ...result } = read('ifcfg-ens5', text);
    expect(JSON.stringify(result)).not.toContain('hunter2');
  });
});
