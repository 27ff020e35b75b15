import type { Node } from '../../kube/core-resources.ts';
import { keyOf, refOf } from '../../kube/object.ts';
import { systemUuidOf } from '../objects/machine.ts';
import { instanceIdOf, type NodeConfig, nodeNameOf, type Stores } from '../objects/stores.ts';

/** Other objects that refer to the same node. */
export interface Duplicates {
  readonly count: number;
  /** Sorted names; empty if too many. */
  readonly names: readonly string[];
}

type Objects = Pick<Stores, 'configs' | 'meaning'>;

/** Maximum number of names listed. */
const fewNames = 3;

/**
 * Returns other objects for the same node that are not being deleted. Two such objects would remove each other's NICs
 * forever, hence neither is applied. An object in deletion is no duplicate: its successor's first run removes its
 * leftovers. Counting parses no object, because thousands may exist.
 */
export function duplicatesOf(config: NodeConfig, node: Node, stores: Objects): Duplicates {
  const { meaning } = stores;
  if (meaning.count(node) <= fewNames + 1) {
    const keys = othersMeaning(config, node, stores);
    return { count: keys.length, names: keys.map((key) => refOf(key).name).toSorted() };
  }
  // The count includes the object itself, if indexed.
  const isOneOfThem = means(config, node) && config.metadata.deletionTimestamp === undefined;
  return { count: meaning.count(node) - (isOneOfThem ? 1 : 0), names: [] };
}

/** Returns another object that refers to this node, to take over from a leaving object. */
export function successorOf(
  config: NodeConfig,
  node: Node,
  stores: Objects,
): NodeConfig | undefined {
  const [key] = othersMeaning(config, node, stores);
  return key === undefined ? undefined : stores.configs.get(key);
}

function othersMeaning(config: NodeConfig, node: Node, stores: Objects): readonly string[] {
  const { configs, meaning } = stores;
  const own = keyOf(config);
  return meaning.keys(node).filter((key) => {
    if (key !== own) return true;
    // Another object may have taken the name since the read.
    return !configs.holds(config) && configs.get(key)?.metadata.uid !== config.metadata.uid;
  });
}

function means(config: NodeConfig, node: Node): boolean {
  const instanceId = instanceIdOf(config);
  return instanceId === undefined
    ? nodeNameOf(config) === node.metadata.name
    : instanceId === systemUuidOf(node);
}

/** With many duplicates only the number is shown, because the names change constantly. */
export function textOf({ count, names }: Duplicates): string {
  return names.length > 0 ? names.join(', ') : `${count} other objects`;
}
