import { describe, expect, test } from 'vitest';
import { macOf } from '../../../test/fixtures/agent-samples.ts';
import { desired } from '../../../test/fixtures/desired-nics.ts';
import { readLink, renderLink, validateLink } from './link-file.ts';

const nic = desired(1);
const mac = 'fa:16:3e:00:00:01';

function claims(match: string, path = '/etc/systemd/network/10-theirs.link') {
  const { macs, patterns = [] } = readLink({ path, text: match, mode: 0o644 });
  return { macs, patterns };
}

describe('the file that names a NIC', () => {
  test('is for udev of every release', () => {
    expect(renderLink(nic, 0o644)).toEqual({
      path: '/etc/systemd/network/90-multinic0.link',
      text: `[Match]\nMACAddress=${macOf(1)}\n\n[Link]\nName=multinic0\n`,
      mode: 0o644,
    });
    expect(readLink(renderLink(nic, 0o600))).toMatchObject({
      own: { mac: macOf(1), index: 0, addresses: [] },
      macs: [macOf(1)],
    });
  });

  test.each(Array.from({ length: 10 }, (_, index) => index))(
    '[RW-19] comes before the one of systemd for all NICs: multinic%i',
    (index) => {
      const { path } = renderLink(desired(index + 1), 0o644);
      expect(path < '/etc/systemd/network/99-default.link').toBe(true);
      expect(path).toContain(`-multinic${index}.link`);
    },
  );

  test.each([
    ['another MAC', macOf(1), macOf(2)],
    ['another name', 'multinic0', 'multinic1'],
    ['one more match', '[Match]', '[Match]\nDriver=x'],
    ['one more setting', '[Link]', '[Link]\nMTUBytes=1'],
    ['a MAC that is there twice', '[Match]', `[Match]\nMACAddress=${macOf(1)}`],
    ['a line that is none', '[Link]', '[Link]\nx'],
  ])('is refused with %s', (_, find, replacement) => {
    const { text } = renderLink(nic, 0o644);
    validateLink(text, nic);
    expect(() => validateLink(text.replace(find, replacement), nic)).toThrow();
  });

  test('is known of the deployed agent, whatever the numbers', () => {
    const text = `[Match]\nMACAddress=${mac.toUpperCase()}\n[Link]\nName=multinic9\n`;
    const path = '/etc/systemd/network/99-multinic9.link';
    expect(readLink({ path, text, mode: 0o644 }).own).toEqual({ mac, index: 9, addresses: [] });
    const elsewhere = path.replace('/etc', '/run');
    for (const other of [elsewhere, '/etc/systemd/network/70-multinic9.link']) {
      expect(readLink({ path: other, text, mode: 0o644 }).own).toBeUndefined();
    }
    for (const other of [`${text}MTUBytes=9000\n`, text.replace('multinic9', 'data0')]) {
      expect(readLink({ path, text: other, mode: 0o644 }).own).toBeUndefined();
    }
  });
});

describe('a file of somebody else', () => {
  test.each([
    [
      'by its MACs',
      'MACAddress=FA-16-3E-00-00-01 fa:16:3e:00:00:02',
      [mac, 'fa:16:3e:00:00:02'],
      [],
    ],
    ['by its permanent MAC', 'PermanentMACAddress=fa16.3e00.0001', [mac], []],
    ['by the names that it starts with', 'OriginalName=ens* eth0', [], ['ens*', 'eth0']],
    [
      'by the names that were said last',
      'OriginalName=eth*\nOriginalName=\nOriginalName=ens*',
      [],
      ['ens*'],
    ],
    ['by all names but some', 'OriginalName=!ens3', [], ['*']],
    ['by such names but some', 'OriginalName=en*\nOriginalName=!ens3', [], ['en*']],
    ['by the names that the kernel gives', 'OriginalName=eth[0-9]*', [], ['*']],
    ['by its driver', 'Driver=virtio_net', [], ['*']],
    ['by what it is not', 'Type=!ether', [], []],
    ['by its type', 'Type=ether', [], ['*']],
    ['by another type', 'Type=wlan', [], []],
    ['by its slot', 'Path=pci-0000:00:05.0', [], []],
    ['by a mark of udev', 'Property=ID_NET_NAME_MAC=*', [], []],
    ['as long as it is no virtual link', 'Kind=!*\nOriginalName=en*', [], ['en*']],
    ['on this host', 'Host=worker-1\nVirtualization=vm\nOriginalName=en*', [], ['en*']],
    ['by a name of the next line', 'OriginalName=ens5 \\\n ens6', [], ['ens5', 'ens6']],
    ['beside a line that says nothing', 'broken\nOriginalName=*', [], ['*']],
    ['by its kind', 'Kind=veth\nOriginalName=ve-*', [], []],
  ])('names a NIC %s', (_, match, macs, patterns) => {
    expect(claims(`[Match]\n${match}\n[Link]\nName=x\n`)).toEqual({ macs, patterns });
  });

  test('says whom it leaves out', () => {
    const text = '[Match]\nOriginalName=!ens3 eth*\n[Link]\nName=x\n';
    const { notNames } = readLink({ path: '/etc/systemd/network/10-x.link', text, mode: 0o644 });
    expect(notNames).toEqual(['ens3', 'eth*']);
  });

  test.each([
    [
      'that comes after ours',
      '[Match]\nOriginalName=*\n',
      '/usr/lib/systemd/network/99-default.link',
    ],
    ['that matches nothing', '[Link]\nName=x\n', undefined],
    ['that is empty', '', undefined],
    ['that took back what it said', '[Match]\nOriginalName=*\nOriginalName=\n', undefined],
    ['that udev does not take', '[Match\nOriginalName=*\n', undefined],
  ])('%s names none', (_, text, path) => {
    expect(claims(text, path)).toEqual({ macs: [], patterns: [] });
  });
});
