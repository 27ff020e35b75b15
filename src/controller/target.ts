import type { NodeReason } from '../api/reasons.ts';
import type { Node } from '../kube/core-resources.ts';
import type { AcceptedSpec } from './jobs/request.ts';
import { systemUuidOf } from './objects/machine.ts';
import {
  type ConfigDirectory,
  instanceIdOf,
  type NodeConfig,
  type NodeDirectory,
  nodeNameOf,
  type Stores,
} from './objects/stores.ts';

import { duplicatesOf, textOf } from './records/meaning.ts';

export type Target =
  | {
      readonly kind: 'node';
      readonly node: Node;
      /** Certainty of the node match, for the condition NameDiffers. */
      readonly name: NameMatch;
    }
  | MissingTarget;

/** Reason why the object has no usable Node. */
export interface MissingTarget {
  readonly kind: 'none';
  readonly reason: NodeReason;
  readonly message: string;
}

export type NameMatch =
  | { readonly kind: 'same' }
  | { readonly kind: 'differs' | 'unproven'; readonly message: string };

/** Returns the Node to apply the object to, or the reason for no Node. Without a Node, existing NICs stay unchanged. */
export function targetOf(config: NodeConfig, spec: AcceptedSpec, stores: Stores): Target {
  const target = findTarget(config, stores.nodeDirectory);
  if (target.kind === 'none') return target;
  if (spec.blocked !== undefined) {
    return { kind: 'none', reason: 'InvalidEntries', message: spec.blocked };
  }
  const duplicates = duplicatesOf(config, target.node, stores);
  if (duplicates.count === 0) return target;
  const { name } = target.node.metadata;
  const message = `node ${name} is also claimed by ${textOf(duplicates)}`;
  return { kind: 'none', reason: 'DuplicateInstanceId', message };
}

/**
 * Finds the object's Node by systemUUID = instance id (from spec, otherwise from the label); without an instance id, by
 * Node name. The kubelet reads systemUUID from DMI, where Nova stores the server id. Kubernetes does not enforce unique
 * systemUUIDs.
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
    const message = `Nodes ${names.join(' and ')} report the same systemUUID ${instanceId}`;
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
  const message = `nodeName is ${nodeName}, but the Node with this systemUUID is ${metadata.name}`;
  return { kind: 'differs', message };
}

/** Returns keys of objects that refer to this Node by systemUUID or by name. */
export function keysAbout(node: Node, configs: ConfigDirectory): readonly string[] {
  const uuid = systemUuidOf(node);
  const byId = uuid ? configs.byInstanceId(uuid) : [];
  return [...new Set([...byId, ...configs.byNodeName(node.metadata.name)])];
}
