import * as z from 'zod';
import {
  type ClusterNetwork,
  clusterNetwork,
  clusterNetworksKey,
  clusterNetworksName,
} from '../../api/cluster-networks.ts';
import type { Effect } from '../../api/effects.ts';
import { jsonIn } from '../../api/json.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { configMaps } from '../../kube/core-resources.ts';
import { isNotFound } from '../../kube/errors.ts';
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
  /** Writes the list if the ConfigMap has another. */
  write(networks: readonly ClusterNetwork[], signal: AbortSignal): Promise<void>;
}

export function createPublishedNetworks(options: PublishedOptions): PublishedNetworks {
  const { client, namespace, perform } = options;
  const ref = { namespace, name: clusterNetworksName };
  /** Text in the ConfigMap as far as known. */
  let stored: string | undefined;

  return {
    async read(signal) {
      const found = await client.find(configMaps, ref, { signal });
      stored = found?.data?.[clusterNetworksKey];
      return stored === undefined
        ? undefined
        : z.array(clusterNetwork).safeParse(jsonIn(stored)).data;
    },
    async write(networks, signal) {
      const text = JSON.stringify(networks);
      if (text === stored) return;
      const data = { [clusterNetworksKey]: text };
      await perform('controller.networks.write', async () => {
        try {
          await client.patch(configMaps, ref, { data }, { signal });
        } catch (error) {
          if (!isNotFound(error)) throw error;
          await client.create(configMaps, { metadata: ref, data }, { signal });
        }
      });
      stored = text;
    },
  };
}
