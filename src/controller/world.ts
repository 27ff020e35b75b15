import { Store } from '../kube/cache/store.ts';
import type { Node } from '../kube/core-resources.ts';
import type { ObjectRef } from '../kube/object.ts';
import { instanceIdOf, type NodeConfig, nodeNameOf } from './node-config.ts';
import { type NodeDirectory, systemUuidOf } from './target.ts';

/** Objects by what tells which node they mean. */
export interface ConfigDirectory {
  byInstanceId(id: string): readonly NodeConfig[];
  byNodeName(name: string): readonly NodeConfig[];
}

/** Objects and nodes as they were last seen, found by what they have in common. */
export interface World {
  readonly configs: Store<NodeConfig>;
  readonly nodes: Store<Node>;
  readonly configDirectory: ConfigDirectory;
  readonly nodeDirectory: NodeDirectory;
}

export function createWorld(): World {
  const configs = new Store<NodeConfig>({
    packed: true,
    indexes: {
      instance: (config) => given(instanceIdOf(config)),
      nodeName: (config) => [nodeNameOf(config)],
    },
  });
  const nodes = new Store<Node>({
    indexes: { systemUuid: (node) => given(systemUuidOf(node)) },
  });
  return {
    configs,
    nodes,
    configDirectory: {
      byInstanceId: (id) => configs.byIndex('instance', id),
      byNodeName: (name) => configs.byIndex('nodeName', name),
    },
    nodeDirectory: {
      bySystemUuid: (uuid) => nodes.byIndex('systemUuid', uuid),
      byName: (name) => nodes.get(name),
    },
  };
}

/** Objects without a value are found by none: they have nothing in common. */
function given(value: string | undefined): readonly string[] {
  return value === undefined ? [] : [value];
}

/** What nobody here reads is not kept: a Node with its images and conditions is 10 KiB. */
export function slimNode({ apiVersion, kind, metadata, status }: Node): Node {
  const { name, uid, resourceVersion } = metadata;
  const { addresses = [], nodeInfo } = status ?? {};
  return {
    ...(apiVersion ? { apiVersion } : {}),
    ...(kind ? { kind } : {}),
    metadata: { name, ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) },
    status: { addresses, ...(nodeInfo ? { nodeInfo } : {}) },
  };
}

/** The reference by which an object is written. */
export function refOfConfig({
  metadata: { namespace = '', name },
}: NodeConfig): Required<ObjectRef> {
  return { namespace, name };
}
