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
  it('findTarget returns the Node whose systemUUID equals the instance id, ignoring case', () => {
    const found = target(nodeConfig(), [node('worker-1', instanceId.toUpperCase())]);
    expect(found).toMatchObject({
      node: { metadata: { name: 'worker-1' } },
      name: { kind: 'same' },
    });
  });

  it('[RW-20] findTarget returns the Node with a matching systemUUID even if its name differs, and reports the difference', () => {
    const found = target(nodeConfig(), [node('other', instanceId), node('worker-1', 'x')]);
    expect(found).toMatchObject({ node: { metadata: { name: 'other' } } });
    expect(found).toMatchObject({
      name: {
        kind: 'differs',
        message: 'nodeName is worker-1, but the Node with this systemUUID is other',
      },
    });
  });

  it('findTarget uses the instance id label when the spec has no instance id', () => {
    const config = nodeConfig({
      metadata: { labels: { [labels.instanceId]: instanceId } },
      spec: { instanceId: undefined },
    });
    expect(target(config, [node('worker-2', instanceId)])).toMatchObject({
      node: { metadata: { name: 'worker-2' } },
    });
  });

  it('findTarget matches by Node name without an instance id, and marks the match unproven', () => {
    const config = nodeConfig({ spec: { instanceId: undefined } });
    expect(target(config)).toMatchObject({ kind: 'node', name: { kind: 'unproven' } });
  });

  it('[RW-66] findTarget never falls back to the name when no Node has the instance id', () => {
    expect(target(nodeConfig(), [node('worker-1', 'rebuilt')])).toMatchObject({
      kind: 'none',
      reason: 'NodeNotFound',
      message: `no Node has the systemUUID ${instanceId} (nodeName worker-1)`,
    });
  });

  it('findTarget refuses two Nodes with the same systemUUID and names both', () => {
    expect(target(nodeConfig(), [node('b', instanceId), node('a', instanceId)])).toMatchObject({
      reason: 'DuplicateSystemUUID',
      message: `Nodes a and b report the same systemUUID ${instanceId}`,
    });
  });
});
