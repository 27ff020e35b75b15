import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { host, link, macOf } from '../../test/fixtures/agent-samples.ts';
import type { NicResult } from '../api/job.ts';
import type { Context } from './apply/context.ts';
import { backends } from './backends/backends.ts';
import { emptyState } from './state.ts';
import { warningsOn } from './warnings.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'multinic-warnings-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const record = {
  mac: macOf(1),
  index: 0,
  originalName: 'ens1',
  addresses: [],
  table: 100,
  priority: 10_100,
  files: [
    { path: '/etc/netplan/90-multinic0.yaml', sha256: '' },
    { path: '/etc/systemd/network/90-multinic0.link', sha256: '' },
  ],
};
const before = {
  host: host([link(1, { name: 'multinic0' })]),
  state: { ...emptyState, nics: [record] },
};

function warnings(family: keyof typeof backends, more: Partial<NicResult> = {}) {
  const nic = { index: 0, mac: macOf(1), name: 'multinic0', state: 'Configured', message: '' };
  const result = { ...nic, reason: 'Configured', ...more } as NicResult;
  const context = { backend: backends[family], hostRoot: root, sysctls: root };
  return warningsOn([result], before, context as unknown as Context);
}

test('files in folders missing in the run are reported for correct NICs', () => {
  const left = ['FilesLeft /etc/netplan/90-multinic0.yaml'];
  expect(warnings('networkd')).toEqual(left);
  expect(warnings('keyfile', { state: 'Removed', reason: 'Removed' })).toEqual(left);
  expect(warnings('netplan')).toEqual(['FilesLeft /etc/systemd/network/90-multinic0.link']);
  expect(warnings('networkd', { state: 'Failed', reason: 'NICInUse' })).toEqual([]);
});

test('a NIC NetworkManager is configured to ignore is reported as not persistent', () => {
  for (const folder of ['run/systemd/units', 'run/NetworkManager/devices'])
    mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'run/systemd/units/invocation:NetworkManager.service'), '');
  writeFileSync(join(root, 'run/NetworkManager/devices/2'), '[device]\nmanaged=true\n');
  const warning = 'NotPersistent multinic0, NetworkManager is configured to ignore it';
  expect(warnings('keyfile')).toContain(warning);
  expect(warnings('ifcfg')).toContain(warning);
  expect(warnings('networkd')).not.toContain(warning);
  expect(warnings('keyfile', { state: 'Removed', reason: 'Removed' })).not.toContain(warning);
  writeFileSync(join(root, 'run/NetworkManager/devices/11'), '[device]\nmanaged=false\n');
  expect(warnings('keyfile')).not.toContain(warning);
});

const cloudInit =
  'SUBSYSTEM=="net", ACTION=="add", DRIVERS=="?*", ATTR{address}=="02:00:00:00:01:01", NAME="stor0"\n';
const file = '70-persistent-net.rules';
const warning = `NotPersistent multinic0, named stor0 by /etc/udev/rules.d/${file}`;

test.each<[string, Readonly<Record<string, string>>, string | undefined]>([
  ['by MAC is reported', { [file]: cloudInit }, warning],
  ['on a continued line is reported', { [file]: cloudInit.replaceAll(', ', ', \\\n  ') }, warning],
  [
    'by several MACs is reported',
    { [file]: cloudInit.replace('02:', 'fa:16:3e:00:00:01|02:') },
    warning,
  ],
  ['by a MAC pattern is reported', { [file]: cloudInit.replace('01:01', '01:*') }, warning],
  ['by MAC ignoring case is reported', { [file]: cloudInit.replace('=="02', '==i"02') }, warning],
  [
    'set finally is reported despite a later rule',
    {
      '60-a.rules': cloudInit.replace('NAME=', 'NAME:='),
      [file]: cloudInit.replace('stor0', 'multinic0'),
    },
    warning.replace(file, '60-a.rules'),
  ],
  [
    'and a later rule with our name is not reported',
    { '60-a.rules': cloudInit, [file]: cloudInit.replace('stor0', 'multinic0') },
    undefined,
  ],
  ['in a comment is not reported', { [file]: `# ${cloudInit}` }, undefined],
  ['for another MAC is not reported', { [file]: cloudInit.replace('01:01', '01:02') }, undefined],
  [
    'excluding this MAC is not reported',
    { [file]: cloudInit.replace('=="02', '!="02') },
    undefined,
  ],
  [
    'for any MAC is not reported',
    { [file]: cloudInit.replace('02:00:00:00:01:01', '?*') },
    undefined,
  ],
  ['for action remove is not reported', { [file]: cloudInit.replace('add', 'remove') }, undefined],
  ['for USB is not reported', { [file]: cloudInit.replace('"net"', '"usb"') }, undefined],
  ['in a file other than .rules is not reported', { [`${file}.rpmsave`]: cloudInit }, undefined],
])('a udev rule with a NIC name %s', (_, files, expected) => {
  mkdirSync(join(root, 'etc/udev/rules.d'), { recursive: true });
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(root, 'etc/udev/rules.d', name), text);
  const found = warnings('networkd').filter((text) => text.startsWith('NotPersistent'));
  expect(found).toEqual(expected === undefined ? [] : [expected]);
  expect(warnings('keyfile', { state: 'Failed', reason: 'NICInUse' })).toEqual([]);
});

const naming = '80-net-setup-link.rules';
const unnamed = `NotPersistent multinic0, not named by /etc/udev/rules.d/${naming}`;
const systemds = 'IMPORT{builtin}="net_setup_link"\nNAME=="", NAME="$env{ID_NET_NAME}"\n';

test.each<[string, keyof typeof backends, Readonly<Record<string, string>>, string | undefined]>([
  ['is masked, on networkd', 'networkd', { [naming]: '/dev/null' }, unnamed],
  ['is masked, on NetworkManager', 'keyfile', { [naming]: '/dev/null' }, unnamed],
  ['is masked, with ifcfg files', 'ifcfg', { [naming]: '/dev/null' }, unnamed],
  ['is masked, and netplan has rules of its own', 'netplan', { [naming]: '/dev/null' }, undefined],
  ['is empty', 'networkd', { [naming]: '' }, unnamed],
  ['is only a comment', 'networkd', { [naming]: `# ${systemds}` }, unnamed],
  ['is a copy', 'networkd', { [naming]: systemds }, undefined],
  ['is in another file', 'networkd', { [naming]: '', '85-mine.rules': systemds }, undefined],
  ['is a dangling link', 'networkd', { [naming]: '/gone' }, undefined],
  [
    'is masked, and another rule gives our name',
    'networkd',
    { [naming]: '', [file]: cloudInit.replace('stor0', 'multinic0') },
    undefined,
  ],
  [
    'is masked, and another rule gives a name',
    'networkd',
    { [naming]: '', [file]: cloudInit },
    warning,
  ],
])(
  'a missing name by .link files is reported if the systemd rule %s',
  (_, family, files, expected) => {
    expect(notPersistentWith(family, files)).toEqual(expected === undefined ? [] : [expected]);
  },
);

const final = cloudInit.replace('NAME=', 'NAME:=');
test.each<[string, string, string, boolean]>([
  ['before the netplan rules, is not reported', file, cloudInit, false],
  ['before the netplan rules and final, is reported', file, final, true],
  ['just before the netplan rules, is not reported', '99-nameit.rules', cloudInit, false],
  ['after the netplan rules, is reported', '99-zz.rules', cloudInit, true],
])('a rule for the MAC on netplan, %s', (_, name, text, warned) => {
  const expected = warned ? [warning.replace(file, name)] : [];
  expect(notPersistentWith('netplan', { [name]: text })).toEqual(expected);
});

function notPersistentWith(family: keyof typeof backends, files: Readonly<Record<string, string>>) {
  const folder = join(root, 'etc/udev/rules.d');
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    if (text.startsWith('/')) symlinkSync(text, join(folder, name));
    else writeFileSync(join(folder, name), text);
  }
  return warnings(family).filter((text) => text.startsWith('NotPersistent'));
}
