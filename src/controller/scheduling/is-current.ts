import type { KubeClient } from '../../kube/client/client.ts';
import { type NodeConfig, nodeConfigs, refOfConfig } from '../objects/stores.ts';

/** Reads the object from the API server; true if uid and generation are unchanged. */
export type IsCurrent = (config: NodeConfig, signal: AbortSignal) => Promise<boolean>;

export function createIsCurrent(client: Pick<KubeClient, 'get'>): IsCurrent {
  return async (config, signal) => {
    const { metadata } = await client.get(nodeConfigs, refOfConfig(config), { signal });
    const { uid, generation } = config.metadata;
    return metadata.uid === uid && metadata.generation === generation;
  };
}
