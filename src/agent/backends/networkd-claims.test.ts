import { describe, expect, test } from 'vitest';
import { entry, host, input, link, macOf } from '../../../test/fixtures/agent-samples.ts';
import { dual } from '../../../test/fixtures/desired-nics.ts';
import { planApply } from '../planning/plan.ts';
import { networkd } from './networkd.ts';

const mac = macOf(1);
const etc = '/etc/systemd/network';
const ours = networkd.render(dual(1)).main;

const read = (path: string, text: string) => networkd.read({ path, text, mode: 0o644 });

async function claims(text: string, path = `${etc}/10-theirs.network`) {
  const { own, macs, names = [], leases = [], patterns = [] } = await read(path, text);
  expect(own).toBeUndefined();
  return { macs, names, leases, patterns };
}

const none = { macs: [], names: [], leases: [], patterns: [] };
const matching = (match: string, network = '') => `[Match]\n${match}\n[Network]\n${network}\n`;

describe('managed networkd files', () => {
  test('networkd.read recognises file name, MAC and NIC name, with any numbers', async () => {
    const addresses = ['10.0.0.1/24', 'fd00::1/64', 'fd00::1:1/64'];
    const text = ours.text.replace(mac, mac.toUpperCase());
    const { own } = await read(`${etc}/94-multinic4.network`, text);
    expect(own).toEqual({ mac, index: 0, addresses });
    const sections = text.replace(/^Address=(10.*)$/m, '[Address]\nAddress=$1\n[Network]');
    expect((await read(ours.path, sections)).own).toEqual({ mac, index: 0, addresses });
  });

  test.each([
    ['with another file name', `${etc}/multinic0.network`, ours.text],
    ['in another place', '/run/systemd/network/90-multinic0.network', ours.text],
    ['for an eleventh NIC', ours.path, ours.text.replaceAll('multinic0', 'multinic10')],
    ['for an unmanaged name', ours.path, ours.text.replace('Name=multinic0', 'Name=data0')],
    ['with a further match', ours.path, ours.text.replace('[Link]', 'Driver=e1000\n[Link]')],
    ['with a repeated name', ours.path, ours.text.replace('[Link]', 'Name=multinic0\n[Link]')],
    ['for two NICs', ours.path, ours.text.replace(mac, `${mac} ${macOf(2)}`)],
  ])('networkd.read does not recognise a file %s', async (_, path, text) => {
    const { own, macs } = await read(path, text);
    expect(own).toBeUndefined();
    expect(macs).toContain(mac);
  });
});

describe('foreign networkd files', () => {
  test.each([
    ['by name', matching('Name=ens5'), { ...none, names: ['ens5'] }],
    [
      'by several names',
      matching('Name=ens5 eno1\nName=ens6'),
      { ...none, names: ['ens5', 'eno1', 'ens6'] },
    ],
    [
      'by a list on a continued line',
      matching('Name=ens5\\\nens6'),
      { ...none, names: ['ens5', 'ens6'] },
    ],
    [
      'by MAC, whatever the name',
      matching(`Name=ens5\nMACAddress=${mac}`),
      { ...none, macs: [mac] },
    ],
    [
      'by MAC with hyphens',
      matching(`PermanentMACAddress=${mac.toUpperCase().replaceAll(':', '-')}`),
      { ...none, macs: [mac] },
    ],
    [
      'by name pattern, by DHCP',
      matching('Name=en* eth0', 'DHCP=yes'),
      { ...none, names: ['eth0'], leases: ['en*'] },
    ],
    [
      'by name pattern',
      matching('Name=en*', 'Address=192.0.2.1/24'),
      { ...none, patterns: ['en*'] },
    ],
    ['by excluding a name', matching('Name=!ens3', 'DHCP=ipv4'), { ...none, leases: ['*'] }],
    ['as every NIC', matching('Name=*', 'DHCP=no'), { ...none, patterns: ['*'] }],
    [
      'by a pattern with exclusions',
      matching('Name=en*\nName=!ens3 ens4', 'DHCP=yes'),
      { ...none, leases: ['en*'] },
    ],
    ['as every Ethernet NIC, in quotes', matching('Type="ether"'), { ...none, patterns: ['*'] }],
    ['as every Ethernet NIC', matching('Type=ether', 'DHCP=yes'), { ...none, leases: ['*'] }],
    [
      'as every link except loopback',
      matching('Type=!loopback', 'DHCP=yes'),
      { ...none, leases: ['*'] },
    ],
    ['as every physical link', matching('Kind=!*', 'DHCP=yes'), { ...none, leases: ['*'] }],
    ['by driver', matching('Driver=virtio_net', 'DHCP=yes'), { ...none, leases: ['*'] }],
    ['by host', matching('Host=worker-1', 'DHCP=yes'), { ...none, leases: ['*'] }],
    [
      'by the last names given',
      matching('Name=eth*\nName=\nName=ens* eno1', 'DHCP=yes\nDHCP=false'),
      { ...none, names: ['eno1'], patterns: ['ens*'] },
    ],
    [
      'by name, in some slots',
      matching('Name=en*\nPath=pci-*', 'DHCP=yes'),
      { ...none, leases: ['en*'] },
    ],
    [
      'by a name on a continued line',
      matching('Name=ens5 \\\n# of the rack\n  ens6 \\\r\n eth*'),
      { ...none, names: ['ens5', 'ens6'], patterns: ['eth*'] },
    ],
    [
      'beside malformed lines',
      `Name=ens7\n${matching('Type=ether\nbroken\n=x', 'DHCP=yes')}`,
      { ...none, leases: ['*'] },
    ],
    ['as a port of a bond', matching('Name=ens5', 'Bond=bond0'), { ...none, names: ['ens5'] }],
  ])('a foreign networkd file configures a NIC %s', async (_, text, wanted) => {
    expect(await claims(text)).toEqual(wanted);
  });

  test.each([
    ["for a NIC's slot", matching('Path=pci-0000:00:03.0', 'DHCP=yes')],
    ['for a slot, excluding a name', matching('Path=pci-0000:00:03.0\nName=!lo', 'DHCP=yes')],
    ['for links other than Ethernet', matching('Type=!ether wlan', 'DHCP=yes')],
    ['for some virtual links', matching('Kind=bond*\nKind=!veth', 'DHCP=yes')],
    // Message in 247 and 252: "No valid settings found in the [Match] section, ignoring file".
    ['with comments only', '# [Match]\n# Name=*\n'],
    ['without a match section', '[Network]\nDHCP=true\n'],
    ['with a reset match', matching('Name=*\nName=', 'DHCP=yes')],
    ['for a udev property', matching('Property=ID_NET_AUTO_LINK_LOCAL_ONLY=1', 'DHCP=yes')],
    ['for wireless NICs', matching('Type=wlan', 'DHCP=yes')],
    ['for bridges', matching('Kind=bridge', 'DHCP=yes')],
    ['masked by an empty file', ''],
    ['for a wireless network', matching('SSID=home', 'DHCP=yes')],
  ])('a networkd file %s configures no NIC', async (_, text) => {
    expect(await claims(text)).toEqual(none);
  });

  test('networkd.read returns excluded names: a mark applies to the whole list', async () => {
    const text = matching('Name=!ens3 ens4\nName=!eth*', 'DHCP=yes');
    const { leases, notNames } = await read(`${etc}/10-all.network`, text);
    expect({ leases, notNames }).toEqual({ leases: ['*'], notNames: ['ens3', 'ens4', 'eth*'] });
  });

  test('a malformed networkd file may configure every NIC it mentions', async () => {
    const text = `[Match]\nName=ens5 ens6\nMACAddress=${mac}\n[Network\n`;
    expect(await claims(text)).toEqual({ ...none, macs: [mac], names: ['ens5', 'ens6'] });
  });

  test('planApply refuses a NIC with a foreign networkd file, and names the file', async () => {
    const refusalOf = async (text: string) => {
      const files = [await read(`${etc}/10-all.network`, text)];
      return planApply(input([entry(1)], host([link(1)], { files }))).refused[0]?.refusal;
    };
    expect(await refusalOf(matching(`MACAddress=${mac}`))).toMatchObject({
      reason: 'NICInUse',
      message: `${etc}/10-all.network [Network] configures the NIC; remove the NIC from that file`,
    });
    expect(await refusalOf(matching('Name=e*', 'DHCP=yes'))).toMatchObject({
      reason: 'LeasedByHost',
    });
  });
});

test('networkd.read recognises managed .link files', async () => {
  const [companion] = networkd.render(dual(1)).companions;
  expect((await read(companion?.path ?? '', companion?.text ?? '')).own).toMatchObject({
    mac,
    index: 0,
  });
});
