import type { Node } from '../kube/core-resources.ts';
import type { NodeConfig } from './node-config.ts';
import { findTarget, systemUuidOf } from './target.ts';
import type { World } from './world.ts';

/**
 * The other objects that mean this node and are to stay. Two of them would take each other's NICs away for ever: neither
 * is applied. One that is being deleted is no rival: its successor's first run takes over what it left on the node.
 */
export function rivalsOf(config: NodeConfig, node: Node, world: World): readonly NodeConfig[] {
  const uuid = systemUuidOf(node);
  const candidates = [
    ...(uuid ? world.configDirectory.byInstanceId(uuid) : []),
    ...world.configDirectory.byNodeName(node.metadata.name),
  ];
  const others = new Map(candidates.map((other) => [other.metadata.uid, other]));
  return [...others.values()].filter(
    (other) =>
      other.metadata.uid !== config.metadata.uid &&
      other.metadata.deletionTimestamp === undefined &&
      means(other, node, world),
  );
}

function means(other: NodeConfig, node: Node, { nodeDirectory }: World): boolean {
  const target = findTarget(other, nodeDirectory);
  return target.kind === 'node' && target.node.metadata.name === node.metadata.name;
}
