import { describe, expect, it } from 'vitest';
import { instanceId, node, nodeConfig } from '../../test/fixtures/controller-samples.ts';
import { labels } from '../api/names.ts';
import type { Node } from '../kube/core-resources.ts';
import { createStores } from './objects/stores.ts';
import { findTarget } from './target.ts';

function worldOf(nodes: readonly Node[]) {
  const world = createStores();
  for (const one of nodes) world.nodes.upsert(one);
  return world;
}

function target(config = nodeConfig(), nodes: readonly Node[] = [node('worker-1', instanceId)]) {
  return findTarget(config, worldOf(nodes).nodeDirectory);
}

describe('findTarget', () => {
  it('takes the Node whose systemUUID is the instance id, whatever the letters', () => {
    const found = target(nodeConfig(), [node('worker-1', instanceId.toUpperCase())]);
    expect(found).toMatchObject({
      node: { metadata: { name: 'worker-1' } },
      name: { kind: 'same' },
    });
  });

  it('[RW-20] takes that Node also when its name differs, and says so', () => {
    const found = target(nodeConfig(), [node('other', instanceId), node('worker-1', 'x')]);
    expect(found).toMatchObject({ node: { metadata: { name: 'other' } } });
    expect(found).toMatchObject({
      name: {
        kind: 'differs',
        message: 'nodeName is worker-1, the Node with this systemUUID is other',
      },
    });
  });

  it('takes the instance id of the label when the spec has none', () => {
    const config = nodeConfig({
      metadata: { labels: { [labels.instanceId]: instanceId } },
      spec: { instanceId: undefined },
    });
    expect(target(config, [node('worker-2', instanceId)])).toMatchObject({
      node: { metadata: { name: 'worker-2' } },
    });
  });

  it('takes the Node of that name when there is no instance id at all, and is not sure', () => {
    const config = nodeConfig({ spec: { instanceId: undefined } });
    expect(target(config)).toMatchObject({ kind: 'node', name: { kind: 'unproven' } });
  });

  it('[RW-66] never falls back to the name when no Node has the instance id', () => {
    expect(target(nodeConfig(), [node('worker-1', 'rebuilt')])).toMatchObject({
      kind: 'none',
      reason: 'NodeNotFound',
      message: `no Node has the systemUUID ${instanceId} (nodeName worker-1)`,
    });
  });

  it('refuses two Nodes with one systemUUID, by name', () => {
    expect(target(nodeConfig(), [node('b', instanceId), node('a', instanceId)])).toMatchObject({
      reason: 'DuplicateSystemUUID',
      message: `Nodes a and b report the systemUUID ${instanceId}`,
    });
  });
});
