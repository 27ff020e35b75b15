import type { NodeReason } from '../api/reasons.ts';
import type { Node } from '../kube/core-resources.ts';
import { keyOf, refOf } from '../kube/object.ts';
import type { AcceptedSpec } from './jobs/request.ts';
import {
  type ConfigDirectory,
  instanceIdOf,
  type NodeConfig,
  type NodeDirectory,
  nodeNameOf,
  type Stores,
  systemUuidOf,
} from './objects/stores.ts';

export type Target =
  | {
      readonly kind: 'node';
      readonly node: Node;
      /** How sure the choice is, for the condition NameDiffers. */
      readonly name: NameMatch;
    }
  | { readonly kind: 'none'; readonly reason: NodeReason; readonly message: string };

export type NameMatch =
  | { readonly kind: 'same' }
  | { readonly kind: 'differs' | 'unproven'; readonly message: string };

/** The node that an object may be applied to, or why there is none; its NICs stay as they are then. */
export function targetOf(config: NodeConfig, spec: AcceptedSpec, stores: Stores): Target {
  const target = findTarget(config, stores.nodeDirectory);
  if (target.kind === 'none') return target;
  if (spec.blocked !== undefined) {
    return { kind: 'none', reason: 'InvalidEntries', message: spec.blocked };
  }
  const duplicates = duplicatesOf(config, target.node, stores);
  if (duplicates.count === 0) return target;
  const { name } = target.node.metadata;
  const message = `node ${name} is also meant by ${textOf(duplicates)}`;
  return { kind: 'none', reason: 'DuplicateInstanceId', message };
}

/** Of many, their number alone: which they are changes all the time. */
function textOf({ count, names }: Duplicates): string {
  return names.length > 0 ? names.join(', ') : `${count} other objects`;
}

/**
 * The node of an object: the one whose systemUUID is its instance id (spec, else label); an object without one means the
 * Node of its name. The kubelet reads systemUUID from DMI, where Nova puts the server id; Kubernetes does not keep it unique.
 */
export function findTarget(config: NodeConfig, nodes: NodeDirectory): Target {
  const instanceId = instanceIdOf(config);
  const nodeName = nodeNameOf(config);
  if (instanceId === undefined) return byName(nodeName, nodes);
  const [node, ...others] = nodes.bySystemUuid(instanceId);
  if (!node) {
    const message = `no Node has the systemUUID ${instanceId} (nodeName ${nodeName})`;
    return { kind: 'none', reason: 'NodeNotFound', message };
  }
  if (others.length > 0) {
    const names = [node, ...others].map(({ metadata }) => metadata.name).toSorted();
    const message = `Nodes ${names.join(' and ')} report the systemUUID ${instanceId}`;
    return { kind: 'none', reason: 'DuplicateSystemUUID', message };
  }
  return { kind: 'node', node, name: nameMatch(nodeName, node) };
}

function byName(nodeName: string, nodes: NodeDirectory): Target {
  const node = nodes.byName(nodeName);
  if (!node) {
    const message = `no Node is named ${nodeName}, and the object has no instanceId`;
    return { kind: 'none', reason: 'NodeNotFound', message };
  }
  const message = `the object has no instanceId: Node ${nodeName} was chosen by its name`;
  return { kind: 'node', node, name: { kind: 'unproven', message } };
}

function nameMatch(nodeName: string, { metadata }: Node): NameMatch {
  if (nodeName === metadata.name) return { kind: 'same' };
  const message = `nodeName is ${nodeName}, the Node with this systemUUID is ${metadata.name}`;
  return { kind: 'differs', message };
}

interface Duplicates {
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
export function heirOf(config: NodeConfig, node: Node, stores: Stores): NodeConfig | undefined {
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

/** Keys of the objects that may mean this node, by its systemUUID or by its name. */
export function keysAbout(node: Node, configs: ConfigDirectory): readonly string[] {
  const uuid = systemUuidOf(node);
  const byId = uuid ? configs.byInstanceId(uuid) : [];
  return [...new Set([...byId, ...configs.byNodeName(node.metadata.name)])];
}
