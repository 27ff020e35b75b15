import { describe, expect, it } from 'vitest';
import { instanceId, node, nodeConfig } from '../../../test/fixtures/controller-samples.ts';
import type { Node } from '../../kube/core-resources.ts';
import { createStores } from '../objects/stores.ts';
import { duplicatesOf } from './meaning.ts';

function worldOf(nodes: readonly Node[]) {
  const world = createStores();
  for (const one of nodes) world.nodes.upsert(one);
  return world;
}

describe('duplicatesOf', () => {
  const here = node('worker-1', instanceId);
  const renamed = { metadata: { name: 'renamed', uid: 'uid-2' }, spec: { nodeName: 'renamed' } };

  function duplicates(...others: Parameters<typeof nodeConfig>[0][]) {
    const world = worldOf([here]);
    const config = nodeConfig();
    for (const one of [config, ...others.map((other) => nodeConfig(other))]) {
      world.configs.upsert(one);
    }
    return duplicatesOf(config, here, world).names;
  }

  it('duplicatesOf returns other objects for the same node, by instance id and by name', () => {
    const byName = { nodeName: 'worker-1', instanceId: undefined };
    expect(
      duplicates(renamed, { metadata: { name: 'named', uid: 'uid-3' }, spec: byName }),
    ).toEqual(['named', 'renamed']);
  });

  it('duplicatesOf ignores an object being deleted', () => {
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    expect(
      duplicates({ ...renamed, metadata: { ...renamed.metadata, deletionTimestamp } }),
    ).toEqual([]);
  });

  it('duplicatesOf ignores an object with the same node name and a different instance id', () => {
    const elsewhere = { nodeName: 'worker-1', instanceId: 'elsewhere' };
    expect(duplicates({ metadata: { name: 'x', uid: 'uid-4' }, spec: elsewhere })).toEqual([]);
  });

  it("duplicatesOf ignores an object with this node's name and another Node's instance id", () => {
    const world = worldOf([here, node('worker-2', 'elsewhere')]);
    const spec = { nodeName: 'worker-1', instanceId: 'elsewhere' };
    world.configs.upsert(nodeConfig({ metadata: { name: 'x', uid: 'uid-4' }, spec }));
    expect(duplicatesOf(nodeConfig(), here, world).count).toBe(0);
  });

  it('duplicatesOf ignores a newer version of the object itself', () => {
    const world = worldOf([here]);
    world.configs.upsert(nodeConfig({ metadata: { resourceVersion: '99' } }));
    expect(duplicatesOf(nodeConfig(), here, world).count).toBe(0);
  });

  it('duplicatesOf counts a new object that took the name since the read', () => {
    const world = worldOf([here]);
    world.configs.upsert(nodeConfig({ metadata: { uid: 'uid-9' } }));
    expect(duplicatesOf(nodeConfig(), here, world).count).toBe(1);
  });
});
