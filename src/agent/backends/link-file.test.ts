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

describe('managed .link files', () => {
  test('renderLink writes keys known to every udev release, and readLink recognises the file', () => {
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
    "[RW-19] the .link file sorts before systemd's default: multinic%i",
    (index) => {
      const { path } = renderLink(desired(index + 1), 0o644);
      expect(path < '/etc/systemd/network/99-default.link').toBe(true);
      expect(path).toContain(`-multinic${index}.link`);
    },
  );

  test.each([
    ['another MAC', macOf(1), macOf(2)],
    ['another name', 'multinic0', 'multinic1'],
    ['a further match', '[Match]', '[Match]\nDriver=x'],
    ['a further setting', '[Link]', '[Link]\nMTUBytes=1'],
    ['a repeated MAC', '[Match]', `[Match]\nMACAddress=${macOf(1)}`],
    ['a malformed line', '[Link]', '[Link]\nx'],
  ])('validateLink refuses %s', (_, find, replacement) => {
    const { text } = renderLink(nic, 0o644);
    validateLink(text, nic);
    expect(() => validateLink(text.replace(find, replacement), nic)).toThrow();
  });

  test('readLink recognises a legacy file with any numbers, and no modified file', () => {
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

describe('foreign .link files', () => {
  test.each([
    ['by MACs', 'MACAddress=FA-16-3E-00-00-01 fa:16:3e:00:00:02', [mac, 'fa:16:3e:00:00:02'], []],
    ['by permanent MAC', 'PermanentMACAddress=fa16.3e00.0001', [mac], []],
    ['by original names', 'OriginalName=ens* eth0', [], ['ens*', 'eth0']],
    [
      'by the last names given',
      'OriginalName=eth*\nOriginalName=\nOriginalName=ens*',
      [],
      ['ens*'],
    ],
    ['by excluding a name', 'OriginalName=!ens3', [], ['*']],
    ['by a pattern with an exclusion', 'OriginalName=en*\nOriginalName=!ens3', [], ['en*']],
    ['by kernel names', 'OriginalName=eth[0-9]*', [], ['*']],
    ['by driver', 'Driver=virtio_net', [], ['*']],
    ['by an excluded type', 'Type=!ether', [], []],
    ['by type', 'Type=ether', [], ['*']],
    ['by another type', 'Type=wlan', [], []],
    ['by slot', 'Path=pci-0000:00:05.0', [], []],
    ['by a udev property', 'Property=ID_NET_NAME_MAC=*', [], []],
    ['unless virtual', 'Kind=!*\nOriginalName=en*', [], ['en*']],
    ['on this host', 'Host=worker-1\nVirtualization=vm\nOriginalName=en*', [], ['en*']],
    ['by a name on a continued line', 'OriginalName=ens5 \\\n ens6', [], ['ens5', 'ens6']],
    ['beside a malformed line', 'broken\nOriginalName=*', [], ['*']],
    ['by kind', 'Kind=veth\nOriginalName=ve-*', [], []],
  ])('a foreign .link file names a NIC %s', (_, match, macs, patterns) => {
    expect(claims(`[Match]\n${match}\n[Link]\nName=x\n`)).toEqual({ macs, patterns });
  });

  test('readLink returns names excluded in a foreign file', () => {
    const text = '[Match]\nOriginalName=!ens3 eth*\n[Link]\nName=x\n';
    const { notNames } = readLink({ path: '/etc/systemd/network/10-x.link', text, mode: 0o644 });
    expect(notNames).toEqual(['ens3', 'eth*']);
  });

  test.each([
    ['sorted after ours', '[Match]\nOriginalName=*\n', '/usr/lib/systemd/network/99-default.link'],
    ['without a match section', '[Link]\nName=x\n', undefined],
    ['without content', '', undefined],
    ['with a reset match', '[Match]\nOriginalName=*\nOriginalName=\n', undefined],
    ['with a malformed section', '[Match\nOriginalName=*\n', undefined],
  ])('a .link file %s names no NIC', (_, text, path) => {
    expect(claims(text, path)).toEqual({ macs: [], patterns: [] });
  });
});
