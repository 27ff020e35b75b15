import type { Node } from '../../kube/core-resources.ts';
import { keyOf, refOf } from '../../kube/object.ts';
import { systemUuidOf } from '../objects/machine.ts';
import { instanceIdOf, type NodeConfig, nodeNameOf, type Stores } from '../objects/stores.ts';

/** The other objects that mean a node. */
export interface Duplicates {
  readonly count: number;
  /** Sorted; empty when there are too many to name. */
  readonly names: readonly string[];
}

/** So many others are named. */
const fewNames = 3;

/**
 * The other objects that mean this node and are to stay. Two of them would take each other's NICs away for ever: neither
 * is applied. One that is being deleted is no duplicate: its successor's first run takes over what it left on the node. They
 * are counted, and none is looked at: there may be thousands.
 */
export function duplicatesOf(config: NodeConfig, node: Node, stores: Stores): Duplicates {
  const { meaning } = stores;
  if (meaning.count(node) <= fewNames + 1) {
    const keys = othersMeaning(config, node, stores);
    return { count: keys.length, names: keys.map((key) => refOf(key).name).toSorted() };
  }
  // Either all of them are others, or it is one of them itself.
  const isOneOfThem = means(config, node) && config.metadata.deletionTimestamp === undefined;
  return { count: meaning.count(node) - (isOneOfThem ? 1 : 0), names: [] };
}

/** An object that means this node, when this one does not any more. */
export function successorOf(
  config: NodeConfig,
  node: Node,
  stores: Stores,
): NodeConfig | undefined {
  const [key] = othersMeaning(config, node, stores);
  return key === undefined ? undefined : stores.configs.get(key);
}

function othersMeaning(config: NodeConfig, node: Node, stores: Stores): readonly string[] {
  const { configs, meaning } = stores;
  const own = keyOf(config);
  return meaning.keys(node).filter((key) => {
    if (key !== own) return true;
    // Another one may have taken its name since it was read.
    return !configs.holds(config) && configs.get(key)?.metadata.uid !== config.metadata.uid;
  });
}

function means(config: NodeConfig, node: Node): boolean {
  const instanceId = instanceIdOf(config);
  return instanceId === undefined
    ? nodeNameOf(config) === node.metadata.name
    : instanceId === systemUuidOf(node);
}

/** Of many, their number alone: which they are changes all the time. */
export function textOf({ count, names }: Duplicates): string {
  return names.length > 0 ? names.join(', ') : `${count} other objects`;
}
