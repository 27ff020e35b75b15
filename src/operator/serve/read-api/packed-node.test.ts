import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { largeNode } from '../../../../test/fixtures/large-node.ts';
import { SharedTexts } from '../../model/packing/texts.ts';
import { type PackableNode, packNode, unpackNode } from './packed-node.ts';

const run = promisify(execFile);

const { providerId: _p, nodeName: _n, config: _c, observedAt: _o, ...full } = largeNode(7);
const bare: PackableNode = {
  instanceId: 'not-a-uuid',
  state: 'Unknown',
  ready: 'Unknown',
  reason: '',
  message: '',
  drifted: false,
  mode: 'Observe',
  nics: [
    {
      name: 'multinic12345678901',
      macAddress: 'FA:16',
      addresses: [],
      state: 'Unknown',
      reason: '',
      message: '네트워크 😀',
      changedAt: '2026-11-01T00:00:00Z',
      found: {
        file: '/etc/netplan/50-cloud-init.yaml',
        section: 'ethernets.ens4.dhcp4',
        dhcp: true,
      },
    },
  ],
  unusedPorts: [{ portId: 'p', address: '10.0.0.1', reason: 'PortTooOld', message: '' }],
};

it.each([
  { name: 'a node with all fields', packable: full },
  { name: 'a node with required fields of unusual form', packable: bare },
])('$name is unchanged after packing and unpacking', ({ packable }) => {
  const texts = new SharedTexts();
  packNode({ ...full, reason: 'Other' }, texts);
  expect(unpackNode(packNode(packable, texts), texts)).toEqual(packable);
});

it('a row with ten NICs takes at most 1.5 kB in memory', async () => {
  const script = join(import.meta.dirname, '../../../../test/fixtures/row-memory.ts');
  const { stdout } = await run(process.execPath, ['--expose-gc', script]);
  const { rows, bytes } = JSON.parse(stdout) as { rows: number; bytes: number };
  expect(rows).toBe(1_000);
  expect(bytes).toBeGreaterThan(500);
  expect(bytes).toBeLessThan(1_500);
});
