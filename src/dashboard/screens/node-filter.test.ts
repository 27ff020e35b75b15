import { expect, it } from 'vitest';
import { failedNode } from '../../../test/fixtures/cli/played-operator.ts';
import { node, read } from '../../explain/testing/healthy.ts';
import { filteredNodes, type NodeFilter } from './node-filter.ts';
import { nodesOf } from './nodes.ts';

const unused = { portId: 'p-9', address: '10.50.0.9', reason: 'PortTooOld', message: '' };
const nodes = [
  node(17, { backend: 'networkd', unusedPorts: [unused] }),
  failedNode,
  node(19, { providerId: 'biz-2' }),
];
const list = { nodes: read(nodes), unread: [], at: '2026-11-26T05:25:00Z' };

it.each<[NodeFilter, string[]]>([
  [{}, ['worker-17', 'worker-18', 'worker-19']],
  [{ cluster: 'biz-2' }, ['worker-19']],
  [{ state: 'Failed' }, ['worker-18']],
  [{ reason: 'NICInUse' }, ['worker-18']],
  [{ reason: 'PortTooOld' }, ['worker-17']],
  [{ backend: 'netplan', cluster: 'biz-1' }, ['worker-18']],
  [{ network: 'tenant', text: 'FA:16:3E:00:01:17' }, ['worker-17']],
  [{ text: '10.50.0.9' }, ['worker-17']],
  [{ network: 'absent' }, []],
])('the filter %j leaves %j', (filter, names) => {
  expect(filteredNodes(nodes, filter).map(({ nodeName }) => nodeName)).toEqual(names);
});

it('a facet counts nodes with a match in the further fields only, its own field left out', () => {
  const { facets, total, all } = nodesOf(list, { cluster: 'biz-1', state: 'Failed' }, undefined);
  expect({ total, all }).toEqual({ total: 1, all: 3 });
  expect(facets.state).toEqual([
    { value: 'Configured', count: 1 },
    { value: 'Failed', count: 1 },
  ]);
  expect(facets.cluster).toEqual([{ value: 'biz-1', count: 1 }]);
  expect(facets.reason).toEqual([{ value: 'NICInUse', count: 1 }]);
});

it('pages of 250 have every node once, also when a node before the token is gone', () => {
  const many = Array.from({ length: 600 }, (_, at) => node(1_000 + at));
  const first = nodesOf({ ...list, nodes: read(many) }, {}, undefined);
  const later = { ...list, nodes: read(many.slice(10)) };
  const second = nodesOf(later, {}, first.continue);
  const third = nodesOf(later, {}, second.continue);
  const names = [first, second, third].flatMap(({ items }) => items.map((each) => each.nodeName));
  expect(names).toEqual(many.map(({ nodeName }) => nodeName));
  expect(third.continue).toBeUndefined();
});

it.each(['x', Buffer.from('{}').toString('base64url')])('the token %s gets 400', (token) => {
  expect(() => nodesOf(list, {}, token)).toThrow('no token of this list');
});
