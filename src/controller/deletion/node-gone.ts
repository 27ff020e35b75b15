import type { KubeClient } from '../../kube/client/client.ts';
import { sharedReads } from '../../kube/client/shared-reads.ts';
import { type Node, nodes } from '../../kube/core-resources.ts';
import { defineResource } from '../../kube/resource.ts';
import { recordOf } from '../jobs/applied.ts';
import { systemUuidOf } from '../objects/machine.ts';
import { instanceIdOf, type NodeConfig, nodeNameOf, slimNode } from '../objects/stores.ts';

/** True if the object's node is certainly gone, read from the API server. */
export type IsNodeGone = (config: NodeConfig, signal: AbortSignal) => Promise<boolean>;

/** Nodes are slimmed while parsing: all full Nodes of a large cluster exceed the heap. */
const slimNodes = defineResource<Node>({ ...nodes, parse: (raw) => slimNode(raw as Node) });

export function createIsNodeGone(client: Pick<KubeClient, 'listAll'>): IsNodeGone {
  const listNodes = sharedReads(
    async (signal) => (await client.listAll(slimNodes, { signal })).items,
  );
  return async (config, signal) => {
    const instanceId = instanceIdOf(config);
    const names = new Set([nodeNameOf(config), recordOf(config)?.nodeName]);
    const found = await listNodes(signal);
    if (instanceId === undefined) return !found.some(({ metadata }) => names.has(metadata.name));
    return !found.some((node) => {
      const uuid = systemUuidOf(node);
      // A Node without a systemUUID at the moment may be the object's node.
      return uuid === undefined ? names.has(node.metadata.name) : uuid === instanceId;
    });
  };
}
