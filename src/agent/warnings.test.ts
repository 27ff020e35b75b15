import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

test('files in folders that the run does not have are left, of NICs that are right now', () => {
  const left = ['FilesLeft /etc/netplan/90-multinic0.yaml'];
  expect(warnings('networkd')).toEqual(left);
  expect(warnings('keyfile', { state: 'Removed', reason: 'Removed' })).toEqual(left);
  expect(warnings('netplan')).toEqual(['FilesLeft /etc/systemd/network/90-multinic0.link']);
  expect(warnings('networkd', { state: 'Failed', reason: 'NICInUse' })).toEqual([]);
});

test('a boot does not bring back a NIC that NetworkManager, of either kind of profiles, leaves alone', () => {
  for (const folder of ['run/systemd/units', 'run/NetworkManager/devices'])
    mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'run/systemd/units/invocation:NetworkManager.service'), '');
  writeFileSync(join(root, 'run/NetworkManager/devices/2'), '[device]\nmanaged=true\n');
  const told = 'NotPersistent multinic0, NetworkManager is told not to manage it';
  expect(warnings('keyfile')).toContain(told);
  expect(warnings('ifcfg')).toContain(told);
  expect(warnings('networkd')).not.toContain(told);
  expect(warnings('keyfile', { state: 'Removed', reason: 'Removed' })).not.toContain(told);
  writeFileSync(join(root, 'run/NetworkManager/devices/11'), '[device]\nmanaged=false\n');
  expect(warnings('keyfile')).not.toContain(told);
});
