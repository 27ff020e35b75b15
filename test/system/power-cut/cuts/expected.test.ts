import { expect, test } from 'vitest';
import { type NicsState } from '../../distros/nic-state.ts';
import { type Known, wrongFiles, wrongNics } from './expected.ts';
import { scenes } from './scenes.ts';

const path = '/etc/netplan/90-multinic0.yaml';
const nic = (address: string, filter: number, priority = 10_100): NicsState => ({
  links: ['multinic0 02:00:00:00:01:01 mtu 1450 up'],
  addresses: [`multinic0 ${address}/24 global`],
  routes: ['10.0.0.0/24 dev multinic0 table main scope link'],
  rules: [`${priority}: from ${address} lookup 100`],
  settings: [`net.ipv4.conf.multinic0.rp_filter = ${filter}`],
});
const [old, wanted] = [nic('10.0.0.1', 2), nic('10.0.0.101', 0)];
const bare = { ...old, addresses: [], routes: [], rules: [] };
const nothing = { ...bare, links: [], settings: [] };
const picture = (nics: NicsState, files: Record<string, string>) => ({
  nics,
  content: { digest: '', files },
  failed: '',
});
const [scene] = scenes;
if (!scene) throw new Error('no scene');
const changed: Known = {
  scene,
  old: picture(old, { [path]: 'old' }),
  new: picture(wanted, { [path]: 'new' }),
};
const added: Known = { ...changed, old: picture(nothing, {}) };
const file = (text: string) => ({ files: { [path]: text } });
const noFile = { files: {} };

test('a NIC equals its file, and may have new settings before the new file', () => {
  expect(wrongNics(changed, old, file('old'))).toEqual([]);
  expect(wrongNics(changed, wanted, file('new'))).toEqual([]);
  expect(wrongNics(changed, { ...old, settings: wanted.settings }, file('old'))).toEqual([]);
  expect(wrongNics(added, nothing, noFile)).toEqual([]);
  expect(wrongNics(added, bare, noFile)).toEqual([]);
});

test.each<[string, Known, NicsState, { readonly files: Readonly<Record<string, string>> }]>([
  ['the old NIC by the new file', changed, old, file('new')],
  ['the new NIC by the old file', changed, wanted, file('old')],
  [
    'addresses of one and rules of the other',
    changed,
    { ...old, rules: wanted.rules },
    file('old'),
  ],
  [
    'the new file without its settings',
    changed,
    { ...wanted, settings: old.settings },
    file('new'),
  ],
  ['no NIC by a file', changed, nothing, file('old')],
  ['addresses without a file', added, wanted, noFile],
  ['a rule without a file', added, { ...bare, rules: old.rules }, noFile],
])('%s is wrong', (_, known, now, content) => {
  expect(wrongNics(known, now, content)).not.toEqual([]);
});

test('what was done is done after a cut, and a file is whole', async () => {
  const said = 'the agent had said that it was done';
  expect(await wrongFiles(changed, { isAfterEnd: true }, file('old'))).toContain(said);
  expect(await wrongFiles(changed, { isAfterEnd: false }, file('old'))).not.toContain(said);
  const half = await wrongFiles(changed, { isAfterEnd: false }, file(''));
  expect(half.join()).toContain('neither old nor new');
});
