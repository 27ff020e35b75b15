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

  it('finds another object that means the same node, by id or by name', () => {
    const byName = { nodeName: 'worker-1', instanceId: undefined };
    expect(
      duplicates(renamed, { metadata: { name: 'named', uid: 'uid-3' }, spec: byName }),
    ).toEqual(['named', 'renamed']);
  });

  it('does not count one that is being deleted', () => {
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    expect(
      duplicates({ ...renamed, metadata: { ...renamed.metadata, deletionTimestamp } }),
    ).toEqual([]);
  });

  it('does not count one that has the name and means another node', () => {
    const elsewhere = { nodeName: 'worker-1', instanceId: 'elsewhere' };
    expect(duplicates({ metadata: { name: 'x', uid: 'uid-4' }, spec: elsewhere })).toEqual([]);
  });

  it('does not count one of the name of this node whose id is that of another Node', () => {
    const world = worldOf([here, node('worker-2', 'elsewhere')]);
    const spec = { nodeName: 'worker-1', instanceId: 'elsewhere' };
    world.configs.upsert(nodeConfig({ metadata: { name: 'x', uid: 'uid-4' }, spec }));
    expect(duplicatesOf(nodeConfig(), here, world).count).toBe(0);
  });

  it('does not count the object itself in a later version', () => {
    const world = worldOf([here]);
    world.configs.upsert(nodeConfig({ metadata: { resourceVersion: '99' } }));
    expect(duplicatesOf(nodeConfig(), here, world).count).toBe(0);
  });

  it('finds the one that has taken its name since it was looked at', () => {
    const world = worldOf([here]);
    world.configs.upsert(nodeConfig({ metadata: { uid: 'uid-9' } }));
    expect(duplicatesOf(nodeConfig(), here, world).count).toBe(1);
  });
});
