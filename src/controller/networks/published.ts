import {
  type ClusterNetwork,
  clusterNetworksKey,
  clusterNetworksName,
  publishedIn,
} from '../../api/cluster-networks.ts';
import type { Effect } from '../../api/effects.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { configMaps } from '../../kube/core-resources.ts';
import type { Perform } from '../../process/effects.ts';

export interface PublishedOptions {
  readonly client: Pick<KubeClient, 'find' | 'create' | 'patch'>;
  readonly namespace: string;
  readonly perform: Perform<Effect>;
}

/** ConfigMap with the networks for Viola. */
export interface PublishedNetworks {
  /** Returns the list in the ConfigMap; undefined: missing, or unreadable content. */
  read(signal: AbortSignal): Promise<readonly ClusterNetwork[] | undefined>;
  /** Writes the list if the ConfigMap in the cluster has another, or is missing. */
  write(list: readonly ClusterNetwork[], signal: AbortSignal): Promise<void>;
}

/** Texts for warnings. */
export const publication = {
  name: `ConfigMap ${clusterNetworksName}`,
  right: `get, create and patch configmaps "${clusterNetworksName}"`,
  lack: 'Viola and multinic plan may have outdated networks of the cluster',
};

export function createPublishedNetworks(options: PublishedOptions): PublishedNetworks {
  const { client, namespace, perform } = options;
  const ref = { namespace, name: clusterNetworksName };

  return {
    async read(signal) {
      const found = await client.find(configMaps, ref, { signal });
      return publishedIn(found?.data);
    },
    async write(list, signal) {
      const text = JSON.stringify(list);
      const data = { [clusterNetworksKey]: text };
      const found = await client.find(configMaps, ref, { signal });
      if (found?.data?.[clusterNetworksKey] === text) return;
      await perform('controller.networks.write', async () => {
        await (found
          ? client.patch(configMaps, ref, { data }, { signal })
          : client.create(configMaps, { metadata: ref, data }, { signal }));
      });
    },
  };
}
