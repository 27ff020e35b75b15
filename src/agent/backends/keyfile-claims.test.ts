import { describe, expect, test } from 'vitest';
import { entry, host, input, link, macOf } from '../../../test/fixtures/agent-samples.ts';
import { planApply } from '../planning/plan.ts';
import { keyfile } from './keyfile.ts';

const mac = 'fa:16:3e:fb:9b:68';
const etc = '/etc/NetworkManager/system-connections';
const run = '/run/NetworkManager/system-connections';

/** File written by the legacy agent, byte for byte. */
const deployed = `[connection]
id=multinic0
type=ethernet
interface-name=multinic0
autoconnect=true

[ethernet]
mac-address=${mac}
mtu=1450

[ipv4]
method=manual
address1=11.11.11.132/24
route-table=100
route1=11.11.11.0/24,,100
routing-rules=priority 10100 from 11.11.11.132/32 table 100
never-default=true

[ipv6]
method=ignore
`;

const read = (path: string, text: string) => keyfile.read({ path, text, mode: 0o600 });

async function claims(text: string, path = `${etc}/theirs.nmconnection`) {
  const { own, macs, names = [], leases = [], patterns = [] } = await read(path, text);
  expect(own).toBeUndefined();
  return { macs, names, leases, patterns };
}

const none = { macs: [], names: [], leases: [], patterns: [] };
const ethernet = (body: string) => `[connection]\nid=x\ntype=ethernet\n${body}\n`;

describe('managed keyfiles', () => {
  test('keyfile.read recognises a legacy profile with any numbers', async () => {
    const { own } = await read(`${etc}/94-multinic4.nmconnection`, deployed);
    expect(own).toEqual({ mac, index: 0, addresses: ['11.11.11.132/24'] });
  });

  test('keyfile.read recognises a managed profile rewritten by NetworkManager', async () => {
    const text = deployed
      .replace('type=ethernet', 'type=802-3-ethernet')
      .replace(mac, mac.toUpperCase())
      .replace('address1=11.11.11.132/24', 'address1=11.11.11.132/24,11.11.11.1');
    const { own } = await read(`${etc}/90-multinic0.nmconnection`, text);
    expect(own).toEqual({ mac, index: 0, addresses: ['11.11.11.132/24'] });
  });

  test.each([
    ['with another file name', `${etc}/multinic0.nmconnection`, deployed],
    ['in another place', `${run}/90-multinic0.nmconnection`, deployed],
    ['for a bond', `${etc}/90-multinic0.nmconnection`, deployed.replace('=ethernet', '=bond')],
    [
      'for an eleventh NIC',
      `${etc}/90-multinic0.nmconnection`,
      deployed.replace(/multinic0/g, 'multinic10'),
    ],
    [
      'for an unmanaged name',
      `${etc}/90-multinic0.nmconnection`,
      deployed.replace(/multinic0/g, 'data0'),
    ],
  ])('keyfile.read does not recognise a profile %s', async (_, path, text) => {
    const { own, macs } = await read(path, text);
    expect(own).toBeUndefined();
    expect(macs).toEqual([mac]);
  });

  test('keyfile.read does not recognise a profile without a MAC', async () => {
    const text = deployed.replace(/mac-address=.*\n/, '');
    expect(await claims(text, `${etc}/90-multinic0.nmconnection`)).toEqual({
      ...none,
      names: ['multinic0'],
    });
  });
});

describe('foreign keyfiles', () => {
  test.each([
    ['by name', ethernet('interface-name=ens5'), { ...none, names: ['ens5'] }],
    [
      'by the last name given',
      ethernet('interface-name=ens4\ninterface-name=ens5'),
      { ...none, names: ['ens5'] },
    ],
    [
      'by MAC, whatever the name',
      ethernet(`interface-name=ens5\n[ethernet]\nmac-address=${mac.toUpperCase()}`),
      { ...none, macs: [mac] },
    ],
    [
      'by the assigned MAC',
      ethernet(`interface-name=ens5\n[802-3-ethernet]\ncloned-mac-address=${mac}`),
      { ...none, macs: [mac], names: ['ens5'] },
    ],
    [
      'as a port of a bond',
      ethernet('interface-name=ens5\nmaster=bond0\nslave-type=bond'),
      { ...none, names: ['ens5'] },
    ],
    [
      'below a VLAN',
      '[connection]\ntype=vlan\ninterface-name=v5\n[vlan]\nid=5\nparent=ens5\n',
      { ...none, names: ['v5', 'ens5'] },
    ],
    [
      'below a macvlan',
      '[connection]\ntype=macvlan\n[macvlan]\nparent=ens5\n',
      { ...none, names: ['ens5'] },
    ],
    [
      'by name pattern, by DHCP',
      ethernet('[match]\ninterface-name=|ens*;!ens3;&eth?;\n[ipv4]\nmethod=auto'),
      { ...none, leases: ['ens*', 'eth?'] },
    ],
    [
      'by name pattern',
      ethernet('[match]\ninterface-name=ens*;\n[ipv4]\nmethod=manual'),
      { ...none, patterns: ['ens*'] },
    ],
    [
      'by excluding a name',
      ethernet('[match]\ninterface-name=!ens3;\n[ipv4]\nmethod=disabled'),
      { ...none, patterns: ['*'] },
    ],
    [
      'without a type, by section',
      '[connection]\nid=x\n[ethernet]\nmtu=1500\n',
      { ...none, leases: ['*'] },
    ],
    ['as every NIC, by DHCP', ethernet('[ethernet]'), { ...none, leases: ['*'] }],
    ['in many slots', ethernet('[match]\npath=pci-*;'), { ...none, leases: ['*'] }],
    [
      'in all slots except one',
      ethernet('[match]\npath=!pci-1;pci-2;'),
      { ...none, leases: ['*'] },
    ],
    [
      'by name, in a slot',
      ethernet('[match]\ninterface-name=ens*;\npath=pci-2;'),
      { ...none, leases: ['ens*'] },
    ],
  ])('a foreign keyfile configures a NIC %s', async (_, text, wanted) => {
    expect(await claims(text)).toEqual(wanted);
  });

  test('keyfile.read returns names and MACs excluded in a foreign profile', async () => {
    const text = ethernet(
      `[match]\ninterface-name=!ens3;&!eno?;\\\\!x;\n[802-3-ethernet]\nmac-address-blacklist=${mac.toUpperCase().replaceAll(':', '-')};`,
    );
    const { except, leases } = await read(`${etc}/all.nmconnection`, text);
    expect({ except, leases }).toEqual({ except: ['ens3', 'eno?', mac], leases: ['!x'] });
    const newer = text.replace('blacklist', 'denylist');
    expect((await read(`${etc}/all.nmconnection`, newer)).except).toContain(mac);
  });

  test.each([
    ['for every NIC on request only', ethernet('autoconnect=false')],
    ['with autoconnect 0', ethernet('autoconnect=0')],
    ["for a NIC's slot", ethernet('[match]\npath=pci-0000:00:03.0;')],
    ['for a tunnel', '[connection]\ntype=vpn\n[vpn]\nremote=192.0.2.1\n'],
    ['without content', ''],
    ['with comments only', '# interface-name=ens5\n'],
  ])('a profile %s configures no NIC', async (_, text) => {
    expect(await claims(text)).toEqual(none);
  });

  test('an automatic profile leases the NIC and is marked as generated', async () => {
    const text = ethernet(
      'autoconnect-priority=-999\ninterface-name=ens5\n[ipv4]\nmethod=auto\n[.nmmeta]\nnm-generated=true',
    );
    const path = `${run}/Wired connection 1.nmconnection`;
    expect(await claims(text, path)).toEqual({ ...none, leases: ['ens5'] });
    expect(await keyfile.read({ path, text, mode: 0o600 })).toMatchObject({ generated: true });
    const byHand = text.replace('[.nmmeta]\nnm-generated=true', '');
    expect(await keyfile.read({ path, text: byHand, mode: 0o600 })).not.toHaveProperty('generated');
    expect(await claims(text)).toEqual({ ...none, names: ['ens5'] });
    const shipped = path.replace('/run', '/usr/lib');
    expect(await claims(text, shipped)).toEqual({ ...none, names: ['ens5'] });
    const bridge = text.replace('type=ethernet', 'type=bridge');
    expect(await claims(bridge, path)).toEqual({ ...none, names: ['ens5'] });
  });

  test("a profile mirroring the agent's configuration configures no NIC", async () => {
    const text = ethernet(
      `autoconnect=false\ninterface-name=multinic0\n[ethernet]\nmac-address=${mac}\n[.nmmeta]\nnm-generated=true\nvolatile=true\nexternal=true`,
    );
    expect(await claims(text, `${run}/multinic0.nmconnection`)).toEqual(none);
    // Version 1.30 rewrites the profile like this when the device has changed.
    const rewritten = text.replace(/\[\.nmmeta\][^]*/, '[proxy]\n');
    expect(await claims(rewritten, `${run}/multinic0.nmconnection`)).toEqual(none);
    expect(await claims(rewritten)).toEqual({ ...none, macs: [mac] });
    const lasting = rewritten.replace('autoconnect=false\n', '');
    expect(await claims(lasting, `${run}/multinic0.nmconnection`)).toEqual({
      ...none,
      macs: [mac],
    });
  });

  test('[RW-09] a profile is about the NIC it names, despite nmcli output inside', async () => {
    const words = [
      String.raw`id=GENERAL.HWADDR:FA\:16\:3E\:FB\:9B\:69`,
      'type=ethernet',
      'interface-name=ens5',
      String.raw`zone=IP4.ADDRESS[1]:10.0.0.1/24\:multinic0`,
      '[ethernet]',
      `mac-address=${mac}`,
      '[user]',
      String.raw`org.note=mac-address\=fa\:16\:3e\:00\:00\:01`,
    ];
    expect(await claims(`[connection]\n${words.join('\n')}\n`)).toEqual({ ...none, macs: [mac] });
  });

  test('a malformed profile may configure every NIC it mentions', async () => {
    const text = `${ethernet(`interface-name=ens5\n[ethernet]\nmac-address=${mac}`)}broken\n`;
    expect(await claims(text)).toEqual({ ...none, macs: [mac], names: ['ens5'] });
  });

  // Version 1.42 ignores all these names, and reads all names in the next test.
  test.each(['~', '.swp', '.pem', '.der', '.nmmeta', '.backup', '.X7k2Qz'])(
    'a file name ending in %s is ignored',
    async (end) => {
      expect(await claims(deployed, `${etc}/eth0.nmconnection${end}`)).toEqual(none);
    },
  );

  test.each(['', '.bak', '.rpmsave', '.swx', '.SWP', '.1234567'])(
    'a file name ending in %j is read',
    async (end) => {
      expect(await claims(deployed, `${etc}/eth0.nmconnection${end}`)).toMatchObject({
        macs: [mac],
      });
    },
  );

  test.each([
    ['whole', ''],
    ['broken', 'broken\n'],
  ])('keyfile.read and refusals contain no secrets: %s', async (_, more) => {
    const text = `[connection]\ntype=ethernet\n[802-1x]\npassword=hunter2\nidentity=agent-x\n[vpn-secrets]\nparent-key=hunter2\n${more}`;
    const { text: _text, ...result } = await read(`${etc}/dot1x.nmconnection`, text);
    expect(JSON.stringify(result)).not.toMatch(/hunter2|agent-x/);
    const files = [await read(`${etc}/dot1x.nmconnection`, text)];
    const plan = planApply(input([entry(1)], host([link(1)], { files })));
    expect(JSON.stringify(plan.refused)).not.toMatch(/hunter2|agent-x/);
  });

  test('planApply refuses a NIC with a foreign profile, and names the file', async () => {
    const text = ethernet(`[ethernet]\nmac-address=${macOf(1)}`);
    const files = [await read(`${etc}/System eth1`, text)];
    const { refused } = planApply(input([entry(1)], host([link(1)], { files })));
    expect(refused[0]?.refusal).toMatchObject({
      reason: 'NICInUse',
      code: 'FileConfiguresNic',
      message: `${etc}/System eth1 x (ipv4.method) configures the NIC; remove the NIC from that file`,
    });
  });
});

describe('keyfile places', () => {
  test.each([
    [etc, ''],
    [run, '.nmconnection'],
    ['/usr/lib/NetworkManager/system-connections', '.nmconnection'],
    ['/etc/sysconfig/network-scripts', ''],
    ['/etc/systemd/network', '.link'],
    ['/run/systemd/network', '.link'],
    ['/usr/lib/systemd/network', '.link'],
    ['/etc/systemd/network', '.network'],
  ])('keyfile places include %s with suffix %j', (directory, suffix) => {
    expect(keyfile.places).toContainEqual(expect.objectContaining({ directory, suffix }));
  });
});

test('keyfile.read recognises managed networkd files, and ignores foreign networkd files', async () => {
  const text = `[Match]\nMACAddress=${macOf(1)}\nName=multinic0\n[Network]\nAddress=10.0.0.1/24\n`;
  const readAs = (name: string, more: object = {}) =>
    keyfile.read({ path: `/etc/systemd/network/${name}`, text, mode: 0o644, ...more });
  const own = { mac: macOf(1), index: 0, addresses: ['10.0.0.1/24'] };
  expect(await readAs('90-multinic0.network')).toMatchObject({ own, macs: [macOf(1)] });
  const theirs = await readAs('50-theirs.network', { unread: 'EACCES' });
  expect(theirs).toEqual({
    path: '/etc/systemd/network/50-theirs.network',
    text,
    mode: 0o644,
    macs: [],
  });
});
