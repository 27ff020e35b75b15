import type { Effect } from '../../api/effects.ts';
import { fieldManagers, finalizers } from '../../api/names.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Perform } from '../../process/effects.ts';
import { type NodeConfig, nodeConfigs, refOfConfig } from '../objects/stores.ts';

export interface Finalizer {
  /** Adds the finalizer before any change on the node; returns the stored object. */
  add(config: NodeConfig, signal: AbortSignal): Promise<NodeConfig>;
  remove(config: NodeConfig, signal: AbortSignal): Promise<void>;
}

/** True if the object has our finalizer. */
export function hasFinalizer({ metadata }: NodeConfig): boolean {
  return metadata.finalizers?.includes(finalizers.nodeConfig) ?? false;
}

export function createFinalizer(
  client: Pick<KubeClient, 'patch'>,
  perform: Perform<Effect>,
): Finalizer {
  function write(config: NodeConfig, list: readonly string[], signal: AbortSignal) {
    const { resourceVersion } = config.metadata;
    // A merge patch replaces the whole list, hence the resourceVersion precondition.
    const patch = { metadata: { resourceVersion, finalizers: list } };
    const options = { fieldManager: fieldManagers.controller, signal };
    return client.patch(nodeConfigs, refOfConfig(config), patch, options);
  }

  return {
    async add(config, signal) {
      const list = [...(config.metadata.finalizers ?? []), finalizers.nodeConfig];
      return perform('controller.finalizer.add', () => write(config, list, signal));
    },
    async remove(config, signal) {
      const { finalizers: before = [] } = config.metadata;
      const list = before.filter((name) => name !== finalizers.nodeConfig);
      await perform('controller.finalizer.remove', () => write(config, list, signal));
    },
  };
}
