import { describe, expect, test } from 'vitest';
import {
  address,
  entry,
  host,
  input,
  link,
  macOf,
  request,
  route,
} from '../../../test/fixtures/agent-samples.ts';
import type { Family, NicResult, RequestInterface } from '../../api/job.ts';
import { backends } from '../backends/backends.ts';
import type { ConfigFile, Snapshot } from '../snapshot.ts';
import { type AgentState, emptyState } from '../state.ts';
import { withFound } from './found.ts';
import { planApply } from './plan.ts';

const mac = macOf(4);
const leaseOn = (index: number) => new Map([[index, { names: [], nameServers: ['10.0.0.53'] }]]);
const wanted = entry(4, { addresses: ['10.0.0.4/24'] });

function foundOn(
  on: Partial<Snapshot>,
  {
    state = emptyState,
    name = 'ens4',
    more = {},
  }: { state?: AgentState; name?: string; more?: Partial<RequestInterface> } = {},
) {
  const site = {
    request: request([{ ...wanted, ...more }]),
    state,
    host: { ...host([link(4, { name, up: true })], on), managedLinks: leaseOn(14) },
    backend: {},
    bus: 'present' as const,
  };
  const [nic] = withFound([{ index: 3, mac } as NicResult], site);
  return nic?.found;
}

const read = (family: Family, path: string, text: string): Promise<ConfigFile> =>
  backends[family].read({ path, text, mode: 0o600 });

const netplan = '/etc/netplan/50-cloud-init.yaml';
const networkd = '/etc/systemd/network/10-cloud-init-ens4.network';
const keyfile = '/etc/NetworkManager/system-connections/cloud-init-ens4.nmconnection';
const ifcfg = '/etc/sysconfig/network-scripts/ifcfg-ens4';

/** Document by cloud-init's netplan renderer, with two NICs. */
const yaml = (more: string) => `network:
    version: 2
    ethernets:
        ens3:
            dhcp4: true
            match:
                macaddress: ${macOf(3)}
            set-name: ens3
        ens4:
${more}            match:
                macaddress: ${mac}
            mtu: 1450
            set-name: ens4
`;
const network = (more: string) =>
  `[Address]\n${more}\n[Link]\nMTUBytes=1450\n\n[Match]\nMACAddress=${mac}\nName=ens4\n\n`;
const profile = (four: string) => `[connection]
id=cloud-init ens4
uuid=5e54b594-0544-581f-8201-eecd17ab3a95
autoconnect-priority=120
type=ethernet

[ethernet]
mtu=1450
mac-address=${mac.toUpperCase()}

${four}`;
const variables = (more: string) =>
  `DEVICE=ens4\nHWADDR=${mac}\nMTU=1450\nONBOOT=yes\nTYPE=Ethernet\nUSERCTL=no\n${more}`;
const fixed = '            addresses:\n            - 10.0.0.4/24\n';
const servers =
  '            nameservers:\n                addresses:\n                - 10.0.0.9\n';

describe('configuration by other programs', () => {
  test.each<[Family, string, string, object]>([
    ['netplan', netplan, yaml('            dhcp4: true\n'), { section: 'ethernets.ens4.dhcp4' }],
    ['netplan', netplan, yaml('            dhcp6: yes\n'), { section: 'ethernets.ens4.dhcp6' }],
    [
      'netplan',
      netplan,
      yaml(fixed + servers),
      { section: 'ethernets.ens4.addresses', dhcp: false, nameServers: ['10.0.0.9'] },
    ],
    ['netplan', netplan, yaml(''), { section: 'ethernets.ens4', dhcp: false }],
    [
      'netplan',
      netplan,
      'network: {version: 2, ethernets: {all: {match: {name: "en*"}, dhcp4: true}}}',
      { section: 'ethernets.all.dhcp4' },
    ],
    [
      'netplan',
      netplan,
      'network: {ethernets: {ens3: {}}, bonds: {b: {interfaces: [ens3, ens4]}}}',
      { section: 'bonds.b.interfaces', dhcp: undefined },
    ],
    ['netplan', netplan, 'ens4: {', { section: '(cannot be parsed)', dhcp: undefined }],
    [
      'networkd',
      networkd,
      `${network('Address=10.0.0.4/24\n')}[Network]\nDHCP=no\nDNS=10.0.0.9 10.0.0.8\n`,
      { section: '[Address] Address', dhcp: false, nameServers: ['10.0.0.9', '10.0.0.8'] },
    ],
    ['networkd', networkd, `${network('')}[Network]\nDHCP=ipv4\n`, { section: '[Network] DHCP' }],
    [
      'networkd',
      networkd,
      `${network('')}[Network]\nIPv6AcceptRA=yes\n`,
      { section: '[Network] IPv6AcceptRA' },
    ],
    [
      'networkd',
      '/etc/systemd/network/10-data.link',
      `[Match]\nMACAddress=${mac}\n[Link]\nName=data0\n`,
      { section: '[Link]', dhcp: undefined },
    ],
    [
      'keyfile',
      keyfile,
      profile('[ipv4]\nmethod=auto\nmay-fail=false\n'),
      { section: 'cloud-init ens4 (ipv4.method)' },
    ],
    [
      'keyfile',
      keyfile,
      profile('[ipv4]\nmethod=manual\naddress1=10.0.0.4/24\ndns=10.0.0.9;10.0.0.8;\n'),
      {
        section: 'cloud-init ens4 (ipv4.method)',
        dhcp: false,
        nameServers: ['10.0.0.9', '10.0.0.8'],
      },
    ],
    [
      'keyfile',
      keyfile,
      profile('[ipv4]\nmethod=disabled\n\n[ipv6]\nmethod=auto\n'),
      { section: 'cloud-init ens4 (ipv6.method)' },
    ],
    ['ifcfg', ifcfg, variables('BOOTPROTO=dhcp\n'), { section: 'DEVICE=ens4 (BOOTPROTO)' }],
    [
      'ifcfg',
      ifcfg,
      variables('BOOTPROTO=none\nIPADDR=10.0.0.4\nNETMASK=255.255.255.0\nDNS1=10.0.0.9\n'),
      { section: 'DEVICE=ens4 (IPADDR)', dhcp: false, nameServers: ['10.0.0.9'] },
    ],
    [
      'ifcfg',
      ifcfg,
      `HWADDR=${mac}\nBOOTPROTO=none\nDHCPV6C=yes\n`,
      { section: `HWADDR=${mac} (DHCPV6C)` },
    ],
  ])('withFound reports a %s file with stanza: %s %j', async (family, path, text, stanza) => {
    const files = [await read(family, path, text)];
    const { dhcp, ...rest } = { dhcp: true, ...stanza };
    expect(foundOn({ files })).toEqual({
      file: path,
      ...rest,
      ...(dhcp === undefined ? {} : { dhcp }),
    });
  });

  const present = [address('ens4', '10.0.0.50/24'), address('ens4', '10.0.0.4/24')];
  const through = route('0.0.0.0/0', 'ens4', { via: '10.0.0.254', protocol: 4 });
  test('withFound reports foreign addresses and routes, and leaves out requested addresses and routes', () => {
    const on = { addresses: present, routes: [route('10.9.0.0/16', 'ens4'), through] };
    const routes = ['0.0.0.0/0 10.0.0.254', '10.9.0.0/16'];
    expect(foundOn(on)).toEqual({ addresses: ['10.0.0.50/24'], routes });
    const more = { routing: 'main' as const, routes: [{ to: '10.9.0.0/16' }] };
    expect(foundOn(on, { more })?.routes).toEqual(routes.slice(0, 1));
    expect(foundOn({ addresses: present.slice(1) })).toBeUndefined();
  });

  test('withFound reports a lease with name servers, even if the leased address is requested', () => {
    const leased = address('ens4', '10.0.0.4/24', { temporary: true });
    expect(foundOn({ addresses: [leased] })).toEqual({ dhcp: true, nameServers: ['10.0.0.53'] });
    expect(foundOn({ routes: [{ ...through, protocol: 16 }] })).toMatchObject({ dhcp: true });
  });

  test('withFound reports an unreadable file for an unmanaged NIC without a readable file', async () => {
    const unread = { ...(await read('netplan', '/etc/netplan/60-x.yaml', '')), unread: 'EACCES' };
    const section = '(cannot be read: EACCES)';
    expect(foundOn({ files: [unread] })).toEqual({ file: '/etc/netplan/60-x.yaml', section });
    const other = await read('netplan', netplan, yaml(fixed));
    expect(foundOn({ files: [unread, other] })?.file).toBe(netplan);
  });

  test('withFound reports a managed NIC only with a file about this NIC or a lease', async () => {
    const record = {
      mac,
      index: 3,
      originalName: 'ens4',
      addresses: ['10.0.0.4/24'],
      table: 103,
      priority: 10_103,
      files: [],
    };
    const of = (on: Partial<Snapshot>) =>
      foundOn(on, { state: { ...emptyState, nics: [record] }, name: 'multinic3' });
    const every = await read('netplan', netplan, 'network: {ethernets: {a: {match: {}}}}');
    expect(of({ files: [every], routes: [route('10.244.0.0/24', 'multinic3')] })).toBeUndefined();
    const files = [await read('netplan', netplan, yaml(fixed))];
    expect(of({ files })).toMatchObject({ file: netplan, section: 'ethernets.ens4.addresses' });
  });

  test('withFound cuts long lists and texts to schema limits', async () => {
    const id = 'x'.repeat(200);
    const text = profile('[ipv4]\nmethod=auto\n').replace('cloud-init ens4', id);
    const path = keyfile.replace('cloud-init', id);
    const addresses = Array.from({ length: 12 }, (_, n) => address('ens4', `10.0.0.${n + 50}/24`));
    const found = foundOn({ addresses, files: [await read('keyfile', path, text)] });
    expect(found?.section?.length).toBeLessThanOrEqual(64);
    expect(found?.file?.length).toBeLessThanOrEqual(128);
    expect(found?.addresses).toHaveLength(8);
  });
});

describe('refusals because of link state', () => {
  const leased = address('ens4', '10.0.0.50/24', { temporary: true });
  const refusalWith = async (text: string, on: Partial<Snapshot>, path = netplan) => {
    const family = path === netplan ? 'netplan' : 'keyfile';
    const files = [await read(family, path, text)];
    const nics = host([link(4, { up: true })], { ...on, files });
    return planApply(input([wanted], nics)).refused[0]?.refusal;
  };
  const dhcp = yaml('            dhcp4: true\n');
  const source = `${netplan} ethernets.ens4.dhcp4 configures the NIC;`;

  test.each<[string, Partial<Snapshot>, string, string, string]>([
    [
      'LeasedByHost',
      { addresses: [leased] },
      "the host's DHCP gave ens4 the address 10.0.0.50/24",
      'LeasedAddress',
      'link=ens4 address=10.0.0.50/24 section=ethernets.ens4.dhcp4',
    ],
    [
      'PrimaryNIC',
      { routes: [route('0.0.0.0/0', 'ens4', { via: '10.0.0.254', protocol: 4 })] },
      'ens4 has a default route in table 254',
      'NodeDefaultRoute',
      'link=ens4 table=254 section=ethernets.ens4.dhcp4',
    ],
    [
      'NICInUse',
      { addresses: [address('ens4', '10.0.0.50/24')] },
      'ens4 has the foreign address 10.0.0.50/24',
      'ForeignAddress',
      'link=ens4 address=10.0.0.50/24 section=ethernets.ens4.dhcp4',
    ],
    [
      'NICInUse',
      {},
      'remove the NIC from that file',
      'FileConfiguresNic',
      'section=ethernets.ens4.dhcp4 path=50-cloud-init.yaml',
    ],
  ])(
    'planApply names file and stanza first, and keeps code and values: %s',
    async (reason, on, words, code, args) => {
      const refused = await refusalWith(dhcp, on);
      expect(refused).toMatchObject({ reason, message: `${source} ${words}`, code });
      expect(refused?.args?.split(' ').toSorted()).toEqual(args.split(' ').toSorted());
    },
  );

  test('planApply shortens a long path, so the stanza stays within 120 bytes', async () => {
    const path = keyfile.replace('cloud-init', 'a-rather-long-name-of-a-profile-by-hand');
    const refused = await refusalWith(profile('[ipv4]\nmethod=auto\n'), {}, path);
    expect(refused?.message.slice(0, 120)).toContain(
      '…/a-rather-long-name-of-a-profile-by-hand-ens4.nmconnec… cloud-init ens4 (ipv4.method) configures the NIC',
    );
  });
});
