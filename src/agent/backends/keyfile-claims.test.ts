import { describe, expect, test } from 'vitest';
import { entry, host, input, link, macOf } from '../../../test/fixtures/agent-samples.ts';
import { planApply } from '../planning/plan.ts';
import { keyfile } from './keyfile.ts';

const mac = 'fa:16:3e:fb:9b:68';
const etc = '/etc/NetworkManager/system-connections';
const run = '/run/NetworkManager/system-connections';

/** What the deployed agent wrote, to the byte. */
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

describe('a profile of ours', () => {
  test('is known of the deployed agent, whatever the numbers', async () => {
    const { own } = await read(`${etc}/94-multinic4.nmconnection`, deployed);
    expect(own).toEqual({ mac, index: 0, addresses: ['11.11.11.132/24'] });
  });

  test('is known when NetworkManager has written it anew', async () => {
    const text = deployed
      .replace('type=ethernet', 'type=802-3-ethernet')
      .replace(mac, mac.toUpperCase())
      .replace('address1=11.11.11.132/24', 'address1=11.11.11.132/24,11.11.11.1');
    const { own } = await read(`${etc}/90-multinic0.nmconnection`, text);
    expect(own).toEqual({ mac, index: 0, addresses: ['11.11.11.132/24'] });
  });

  test.each([
    ['of another name', `${etc}/multinic0.nmconnection`, deployed],
    ['in another place', `${run}/90-multinic0.nmconnection`, deployed],
    ['of a bond', `${etc}/90-multinic0.nmconnection`, deployed.replace('=ethernet', '=bond')],
    [
      'of an eleventh',
      `${etc}/90-multinic0.nmconnection`,
      deployed.replace(/multinic0/g, 'multinic10'),
    ],
    [
      'of a NIC of theirs',
      `${etc}/90-multinic0.nmconnection`,
      deployed.replace(/multinic0/g, 'data0'),
    ],
  ])('is none that is %s', async (_, path, text) => {
    const { own, macs } = await read(path, text);
    expect(own).toBeUndefined();
    expect(macs).toEqual([mac]);
  });

  test('is none without a MAC', async () => {
    const text = deployed.replace(/mac-address=.*\n/, '');
    expect(await claims(text, `${etc}/90-multinic0.nmconnection`)).toEqual({
      ...none,
      names: ['multinic0'],
    });
  });
});

describe('a profile of somebody else', () => {
  test.each([
    ['by its name', ethernet('interface-name=ens5'), { ...none, names: ['ens5'] }],
    [
      'by the name that is said last',
      ethernet('interface-name=ens4\ninterface-name=ens5'),
      { ...none, names: ['ens5'] },
    ],
    [
      'by its MAC, whatever its name',
      ethernet(`interface-name=ens5\n[ethernet]\nmac-address=${mac.toUpperCase()}`),
      { ...none, macs: [mac] },
    ],
    [
      'by the MAC that it is to get',
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
      'with every NIC of such a name, by DHCP',
      ethernet('[match]\ninterface-name=|ens*;!ens3;&eth?;\n[ipv4]\nmethod=auto'),
      { ...none, leases: ['ens*', 'eth?'] },
    ],
    [
      'with every NIC of such a name',
      ethernet('[match]\ninterface-name=ens*;\n[ipv4]\nmethod=manual'),
      { ...none, patterns: ['ens*'] },
    ],
    [
      'with all but some',
      ethernet('[match]\ninterface-name=!ens3;\n[ipv4]\nmethod=disabled'),
      { ...none, patterns: ['*'] },
    ],
    [
      'of no type, by its section',
      '[connection]\nid=x\n[ethernet]\nmtu=1500\n',
      { ...none, leases: ['*'] },
    ],
    ['with every NIC, by DHCP', ethernet('[ethernet]'), { ...none, leases: ['*'] }],
    ['in many slots', ethernet('[match]\npath=pci-*;'), { ...none, leases: ['*'] }],
    ['in all slots but one', ethernet('[match]\npath=!pci-1;pci-2;'), { ...none, leases: ['*'] }],
    [
      'by its name, in one slot',
      ethernet('[match]\ninterface-name=ens*;\npath=pci-2;'),
      { ...none, leases: ['ens*'] },
    ],
  ])('configures a NIC %s', async (_, text, wanted) => {
    expect(await claims(text)).toEqual(wanted);
  });

  test('says whom it leaves out, by name or by MAC', async () => {
    const text = ethernet(
      `[match]\ninterface-name=!ens3;&!eno?;\\\\!x;\n[802-3-ethernet]\nmac-address-blacklist=${mac.toUpperCase().replaceAll(':', '-')};`,
    );
    const { except, leases } = await read(`${etc}/all.nmconnection`, text);
    expect({ except, leases }).toEqual({ except: ['ens3', 'eno?', mac], leases: ['!x'] });
    const newer = text.replace('blacklist', 'denylist');
    expect((await read(`${etc}/all.nmconnection`, newer)).except).toContain(mac);
  });

  test.each([
    ['that is for every NIC, but only when asked', ethernet('autoconnect=false')],
    ['that is so in other words', ethernet('autoconnect=0')],
    ['of the slot of one NIC', ethernet('[match]\npath=pci-0000:00:03.0;')],
    ['of a tunnel', '[connection]\ntype=vpn\n[vpn]\nremote=192.0.2.1\n'],
    ['that is empty', ''],
    ['that has comments', '# interface-name=ens5\n'],
  ])('%s claims none', async (_, text) => {
    expect(await claims(text)).toEqual(none);
  });

  test('that NetworkManager made by itself has the NIC leased, and goes with the boot', async () => {
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

  test('in which NetworkManager notes what this agent did claims none', async () => {
    const text = ethernet(
      `autoconnect=false\ninterface-name=multinic0\n[ethernet]\nmac-address=${mac}\n[.nmmeta]\nnm-generated=true\nvolatile=true\nexternal=true`,
    );
    expect(await claims(text, `${run}/multinic0.nmconnection`)).toEqual(none);
    // Version 1.30 writes it anew like this when the device has changed.
    const anew = text.replace(/\[\.nmmeta\][^]*/, '[proxy]\n');
    expect(await claims(anew, `${run}/multinic0.nmconnection`)).toEqual(none);
    expect(await claims(anew)).toEqual({ ...none, macs: [mac] });
    const lasting = anew.replace('autoconnect=false\n', '');
    expect(await claims(lasting, `${run}/multinic0.nmconnection`)).toEqual({
      ...none,
      macs: [mac],
    });
  });

  test('[RW-09] is about the NIC that it names, whatever words of nmcli are in it', async () => {
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

  test('that NetworkManager does not take may be about what it mentions', async () => {
    const text = `${ethernet(`interface-name=ens5\n[ethernet]\nmac-address=${mac}`)}broken\n`;
    expect(await claims(text)).toEqual({ ...none, macs: [mac], names: ['ens5'] });
  });

  // As version 1.42 does with all of these, and with none of the next ones.
  test.each(['~', '.swp', '.pem', '.der', '.nmmeta', '.backup', '.X7k2Qz'])(
    'is passed by when its name ends in %s',
    async (end) => {
      expect(await claims(deployed, `${etc}/eth0.nmconnection${end}`)).toEqual(none);
    },
  );

  test.each(['', '.bak', '.rpmsave', '.swx', '.SWP', '.1234567'])(
    'is read when its name ends in %j',
    async (end) => {
      expect(await claims(deployed, `${etc}/eth0.nmconnection${end}`)).toMatchObject({
        macs: [mac],
      });
    },
  );

  test.each([
    ['whole', ''],
    ['broken', 'broken\n'],
  ])('keeps its secrets: %s', async (_, more) => {
    const text = `[connection]\ntype=ethernet\n[802-1x]\npassword=hunter2\nidentity=agent-x\n[vpn-secrets]\nparent-key=hunter2\n${more}`;
    const { text: _text, ...told } = await read(`${etc}/dot1x.nmconnection`, text);
    expect(JSON.stringify(told)).not.toMatch(/hunter2|agent-x/);
    const files = [await read(`${etc}/dot1x.nmconnection`, text)];
    const plan = planApply(input([entry(1)], host([link(1)], { files })));
    expect(JSON.stringify(plan.refused)).not.toMatch(/hunter2|agent-x/);
  });

  test('is known to plans: the NIC is refused, and whose file it is is said', async () => {
    const text = ethernet(`[ethernet]\nmac-address=${macOf(1)}`);
    const files = [await read(`${etc}/System eth1`, text)];
    const { refused } = planApply(input([entry(1)], host([link(1)], { files })));
    expect(refused[0]?.refusal).toEqual({
      reason: 'NICInUse',
      message: `${etc}/System eth1 configures the NIC; take it out of there`,
    });
  });
});

describe('the places of profiles', () => {
  test.each([
    [etc, ''],
    [run, '.nmconnection'],
    ['/usr/lib/NetworkManager/system-connections', '.nmconnection'],
    ['/etc/sysconfig/network-scripts', ''],
    ['/etc/systemd/network', '.link'],
    ['/run/systemd/network', '.link'],
    ['/usr/lib/systemd/network', '.link'],
    ['/etc/systemd/network', '.network'],
  ])('are %s with %j', (directory, suffix) => {
    expect(keyfile.places).toContainEqual(expect.objectContaining({ directory, suffix }));
  });
});

test('of files of networkd only those of ours count', async () => {
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
