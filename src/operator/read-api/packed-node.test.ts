import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import type { NodeView } from '../../api/read-http.ts';
import { type PackableNode, packNode, SharedTexts, unpackNode } from './packed-node.ts';
import { rowOf } from './reads-of-sync.ts';

const uuid = (n: number) => `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
const mac = (n: number) =>
  `fa:16:3e:${n
    .toString(16)
    .padStart(6, '0')
    .replace(/(..)(?=.)/g, '$1:')}`;

/** A node with ten dual-stack NICs, the last failed, and a primary port. */
function node(n: number): NodeView {
  return {
    providerId: 'biz-1',
    nodeName: `production-worker-${n}.example.com`,
    instanceId: uuid(n),
    config: 'multinic-system/storage',
    state: 'Failed',
    ready: 'False',
    reason: 'NICInUse',
    message: `multinic9: link ens${n} has the foreign address “10.7.0.1/24”`,
    since: '2026-11-01T00:00:00Z',
    drifted: true,
    checkedAt: '2026-11-01T01:00:00Z',
    backend: 'netplan',
    agentVersion: '0.2.0',
    observedAt: '2026-11-01T02:00:00Z',
    nics: Array.from({ length: 10 }, (_, index) => ({
      name: `multinic${index}`,
      portId: uuid(n * 100 + index),
      macAddress: mac(n * 100 + index),
      addresses: [`10.${index}.${n % 250}.18/24`, `fd30:${n % 250}::${index}/64`],
      mtu: 1450,
      networkId: uuid(900_000 + index),
      networkName: `network-${index}`,
      subnetId: uuid(910_000 + index),
      subnetName: `subnet-${index}`,
      portStatus: 'ACTIVE',
      state: index === 9 ? 'Failed' : 'Configured',
      reason: index === 9 ? 'NICInUse' : '',
      message: index === 9 ? `link ens${n} has the foreign address “10.7.0.1/24”` : '',
      carrier: index % 2 === 0,
      changedAt: '2026-11-01T00:00:00Z',
      checkedAt: '2026-11-01T01:00:00Z',
    })),
    unusedPorts: [
      {
        portId: uuid(n + 800_000),
        macAddress: mac(n + 800_000),
        reason: 'SubnetNotSelected',
        message: 'none of its addresses is in a selected subnet',
      },
    ],
  };
}

const { providerId: _p, nodeName: _n, config: _c, observedAt: _o, ...full } = node(7);
const bare: PackableNode = {
  instanceId: 'not-a-uuid',
  state: 'Unknown',
  ready: 'Unknown',
  reason: '',
  message: '',
  drifted: false,
  nics: [
    {
      name: 'multinic12345678901',
      macAddress: 'FA:16',
      addresses: [],
      state: 'Unknown',
      reason: '',
      message: '네트워크 😀',
      changedAt: '2026-11-01T00:00:00Z',
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

it('a row with ten NICs takes at most 1.5 kB in memory', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const texts = new SharedTexts();
  const count = 500;
  const rows = Array.from({ length: count }, (_, n) => rowOf(node(n), texts));
  collect();
  const before = process.memoryUsage().heapUsed;
  // Separate strings, as in a later sync.
  const more = Array.from({ length: count }, (_, n) => rowOf(node(n + count), texts));
  collect();
  const perNode = (process.memoryUsage().heapUsed - before) / count;
  expect(rows.length + more.length).toBe(2 * count);
  expect(perNode).toBeGreaterThan(500);
  expect(perNode).toBeLessThan(1_500);
});
