import { expect, it } from 'vitest';
import type { InterfaceSpec } from '../../../api/multinicnodeconfig.ts';
import { sharedOf } from '../../../api/shared-content.ts';
import { entry, existingNode } from '../../../plan/sample.ts';
import { rolloutsOf } from './rollouts.ts';

/** Returns nodes with the planned NICs, and a record for the former NICs. */
function planned(count: number, nics: (n: number) => readonly InterfaceSpec[]) {
  return Array.from({ length: count }, (_, at) => {
    const before = [entry(at, 0)];
    const applied = { shared: sharedOf(before), macs: before.map(({ macAddress }) => macAddress) };
    const interfaces = nics(at);
    const hasChanges = JSON.stringify(interfaces) !== JSON.stringify(before);
    return {
      node: { action: hasChanges ? ('post' as const) : ('none' as const), interfaces },
      existing: existingNode(at, before, { status: { applied } }),
      hasChanges,
    };
  });
}

const mtu = (n: number) => [entry(n, 0, { mtu: 1400 })];
const gateway = (n: number) => [entry(n, 0, { gateway: '10.0.10.2', routing: 'main' as const })];
const other = (n: number) => [
  entry(n, 0, { mtu: 1400, ...(n < 3 ? { routing: 'main' as const } : {}) }),
];
const attach = (n: number) => [entry(n, 0), entry(n + 50, 1)];

it.each([
  ['an MTU', 12, mtu, 1, [[12, 'sub-a mtu', [1, 2, 9]]]],
  ['gateway and routing', 2, gateway, 1, [[2, 'sub-a gateway+routing', [1, 1]]]],
  [
    'two settings on different nodes',
    2,
    (n: number) => (n === 0 ? mtu(n) : gateway(n)),
    1,
    [
      [1, 'sub-a mtu', [1]],
      [1, 'sub-a gateway+routing', [1]],
    ],
  ],
  [
    'an MTU on 12 nodes, and the routing on 3 of them',
    12,
    other,
    2,
    [
      [12, 'sub-a mtu', [1, 2, 9]],
      [3, 'sub-a routing', [1, 1, 1]],
    ],
  ],
  ['a further port', 12, attach, 1, []],
  ['a further port, of another generation', 12, attach, 2, [[12, '', [1, 2, 9]]]],
  [
    'a further port on 3 of 30 nodes, in a what-if',
    30,
    (n: number) => (n < 3 ? attach(n) : [entry(n, 0)]),
    undefined,
    [[3, '', [1, 1, 1]]],
  ],
  [
    'an MTU on 3 of 30 nodes, of another generation',
    30,
    (n: number) => (n < 3 ? mtu(n) : [entry(n, 0)]),
    2,
    [[3, 'sub-a mtu', [1, 1, 1]]],
  ],
  ['nothing, of another generation', 2, (n: number) => [entry(n, 0)], 2, []],
] as const)('rollouts of a plan that changes %s', (_what, count, nics, generation, expected) => {
  const rollouts = rolloutsOf(planned(count, nics), generation).map((one) => [
    one.nodes,
    one.changes.map(({ subnet, fields }) => `${subnet} ${fields.join('+')}`).join(),
    one.steps,
  ]);
  expect(rollouts).toEqual(expected);
});

it('a paused node is in no step', () => {
  const conditions = [{ type: 'Paused', status: 'True' as const }];
  const nodes = planned(12, mtu).map((one, at) => ({
    ...one,
    existing: {
      ...one.existing,
      status: { ...one.existing.status, ...(at < 9 ? { conditions } : {}) },
    },
  }));
  expect(rolloutsOf(nodes, 1)).toMatchObject([{ nodes: 3, steps: [1, 2] }]);
});

it('nodes with a new consent to adoption form one rollout, also without an object or a configured NIC', () => {
  const existing = existingNode(0, [entry(0, 0)]);
  const adopted = { applied: { existingConfiguration: 'Adopt' as const, macs: [] } };
  const node = { action: 'post' as const, interfaces: [entry(0, 0)], adopts: true };
  const changes = [
    { node, existing: undefined, hasChanges: true },
    { node, existing, hasChanges: false },
    { node, existing: { ...existing, status: adopted }, hasChanges: false },
    { node: { ...node, adopts: false }, existing, hasChanges: true },
  ];
  expect(rolloutsOf(changes, 2)).toEqual([{ nodes: 2, changes: [], steps: [1, 1] }]);
});

it('a node without a record waits for no rollout', () => {
  const nodes = planned(2, mtu).map((one, at) => ({
    ...one,
    existing: existingNode(at, [entry(at, 0)]),
  }));
  expect(rolloutsOf(nodes, 2)).toEqual([]);
});
