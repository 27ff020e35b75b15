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

describe('a file of ours', () => {
  test('is known by its name, its MAC and the name of the NIC, whatever the numbers', async () => {
    const addresses = ['10.0.0.1/24', 'fd00::1/64', 'fd00::1:1/64'];
    const text = ours.text.replace(mac, mac.toUpperCase());
    const { own } = await read(`${etc}/94-multinic4.network`, text);
    expect(own).toEqual({ mac, index: 0, addresses });
    const sections = text.replace(/^Address=(10.*)$/m, '[Address]\nAddress=$1\n[Network]');
    expect((await read(ours.path, sections)).own).toEqual({ mac, index: 0, addresses });
  });

  test.each([
    ['of another name', `${etc}/multinic0.network`, ours.text],
    ['in another place', '/run/systemd/network/90-multinic0.network', ours.text],
    ['of an eleventh', ours.path, ours.text.replaceAll('multinic0', 'multinic10')],
    ['of a NIC of theirs', ours.path, ours.text.replace('Name=multinic0', 'Name=data0')],
    ['that matches less', ours.path, ours.text.replace('[Link]', 'Driver=e1000\n[Link]')],
    ['with its name twice', ours.path, ours.text.replace('[Link]', 'Name=multinic0\n[Link]')],
    ['of two NICs', ours.path, ours.text.replace(mac, `${mac} ${macOf(2)}`)],
  ])('is none that is %s', async (_, path, text) => {
    const { own, macs } = await read(path, text);
    expect(own).toBeUndefined();
    expect(macs).toContain(mac);
  });
});

describe('a file of somebody else', () => {
  test.each([
    ['by its name', matching('Name=ens5'), { ...none, names: ['ens5'] }],
    [
      'by one name of many',
      matching('Name=ens5 eno1\nName=ens6'),
      { ...none, names: ['ens5', 'eno1', 'ens6'] },
    ],
    [
      'by a list that goes on in the next line',
      matching('Name=ens5\\\nens6'),
      { ...none, names: ['ens5', 'ens6'] },
    ],
    [
      'by its MAC, whatever its name',
      matching(`Name=ens5\nMACAddress=${mac}`),
      { ...none, macs: [mac] },
    ],
    [
      'by its MAC in another form',
      matching(`PermanentMACAddress=${mac.toUpperCase().replaceAll(':', '-')}`),
      { ...none, macs: [mac] },
    ],
    [
      'with every NIC of such a name, by DHCP',
      matching('Name=en* eth0', 'DHCP=yes'),
      { ...none, names: ['eth0'], leases: ['en*'] },
    ],
    [
      'with every NIC of such a name',
      matching('Name=en*', 'Address=192.0.2.1/24'),
      { ...none, patterns: ['en*'] },
    ],
    ['with all but some', matching('Name=!ens3', 'DHCP=ipv4'), { ...none, leases: ['*'] }],
    ['with every NIC', matching('Name=*', 'DHCP=no'), { ...none, patterns: ['*'] }],
    [
      'with all of such a name but some',
      matching('Name=en*\nName=!ens3 ens4', 'DHCP=yes'),
      { ...none, leases: ['en*'] },
    ],
    ['with every Ethernet NIC, in quotes', matching('Type="ether"'), { ...none, patterns: ['*'] }],
    ['with every Ethernet NIC', matching('Type=ether', 'DHCP=yes'), { ...none, leases: ['*'] }],
    [
      'with what is no loopback',
      matching('Type=!loopback', 'DHCP=yes'),
      { ...none, leases: ['*'] },
    ],
    ['with what is no virtual link', matching('Kind=!*', 'DHCP=yes'), { ...none, leases: ['*'] }],
    [
      'with every NIC of a driver',
      matching('Driver=virtio_net', 'DHCP=yes'),
      { ...none, leases: ['*'] },
    ],
    [
      'with every NIC of this host',
      matching('Host=worker-1', 'DHCP=yes'),
      { ...none, leases: ['*'] },
    ],
    [
      'by what was said last',
      matching('Name=eth*\nName=\nName=ens* eno1', 'DHCP=yes\nDHCP=false'),
      { ...none, names: ['eno1'], patterns: ['ens*'] },
    ],
    [
      'by its name, in some slots',
      matching('Name=en*\nPath=pci-*', 'DHCP=yes'),
      { ...none, leases: ['en*'] },
    ],
    [
      'by a name of the next line',
      matching('Name=ens5 \\\n# of the rack\n  ens6 \\\r\n eth*'),
      { ...none, names: ['ens5', 'ens6'], patterns: ['eth*'] },
    ],
    [
      'beside lines that say nothing',
      `Name=ens7\n${matching('Type=ether\nbroken\n=x', 'DHCP=yes')}`,
      { ...none, leases: ['*'] },
    ],
    ['as a port of a bond', matching('Name=ens5', 'Bond=bond0'), { ...none, names: ['ens5'] }],
  ])('configures a NIC %s', async (_, text, wanted) => {
    expect(await claims(text)).toEqual(wanted);
  });

  test.each([
    ['of the slot of one NIC', matching('Path=pci-0000:00:03.0', 'DHCP=yes')],
    ['of that slot, whatever its name', matching('Path=pci-0000:00:03.0\nName=!lo', 'DHCP=yes')],
    ['of what is no Ethernet NIC', matching('Type=!ether wlan', 'DHCP=yes')],
    ['of some virtual links', matching('Kind=bond*\nKind=!veth', 'DHCP=yes')],
    // So say 247 and 252: "No valid settings found in the [Match] section, ignoring file".
    ['of which every line is a comment', '# [Match]\n# Name=*\n'],
    ['that says not whose it is', '[Network]\nDHCP=true\n'],
    ['that took back what it said', matching('Name=*\nName=', 'DHCP=yes')],
    ['of NICs that udev marks', matching('Property=ID_NET_AUTO_LINK_LOCAL_ONLY=1', 'DHCP=yes')],
    ['of wireless NICs', matching('Type=wlan', 'DHCP=yes')],
    ['of bridges', matching('Kind=bridge', 'DHCP=yes')],
    ['that is masked', ''],
    ['of a network in the air', matching('SSID=home', 'DHCP=yes')],
  ])('%s claims none', async (_, text) => {
    expect(await claims(text)).toEqual(none);
  });

  test('says whom it leaves out: all of a list that begins with a mark', async () => {
    const text = matching('Name=!ens3 ens4\nName=!eth*', 'DHCP=yes');
    const { leases, notNames } = await read(`${etc}/10-all.network`, text);
    expect({ leases, notNames }).toEqual({ leases: ['*'], notNames: ['ens3', 'ens4', 'eth*'] });
  });

  test('that networkd does not take may be about what it mentions', async () => {
    const text = `[Match]\nName=ens5 ens6\nMACAddress=${mac}\n[Network\n`;
    expect(await claims(text)).toEqual({ ...none, macs: [mac], names: ['ens5', 'ens6'] });
  });

  test('is known to plans: the NIC is refused, and whose file it is is said', async () => {
    const refusalOf = async (text: string) => {
      const files = [await read(`${etc}/10-all.network`, text)];
      return planApply(input([entry(1)], host([link(1)], { files }))).refused[0]?.refusal;
    };
    expect(await refusalOf(matching(`MACAddress=${mac}`))).toEqual({
      reason: 'NICInUse',
      message: `${etc}/10-all.network configures the NIC; take it out of there`,
    });
    expect(await refusalOf(matching('Name=e*', 'DHCP=yes'))).toMatchObject({
      reason: 'LeasedByHost',
    });
  });
});

test('files for udev are read as those of other families are', async () => {
  const [companion] = networkd.render(dual(1)).companions;
  expect((await read(companion?.path ?? '', companion?.text ?? '')).own).toMatchObject({
    mac,
    index: 0,
  });
});
