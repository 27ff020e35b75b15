import type { Effect } from '../../api/effects.ts';
import { fieldManagers } from '../../api/names.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { keyOf } from '../../kube/object.ts';
import type { Perform } from '../../process/effects.ts';
import { type Applied, recordOf } from '../jobs/applied.ts';
import type { Run, Runner } from '../jobs/runner.ts';
import { type NodeConfig, nodeConfigs, refOfConfig, type Stores } from '../objects/stores.ts';

/**
 * A node has one record: that of the object for which it was changed last. Records are found by the name of the node, as one
 * counts on the Node alone that it names.
 */
export interface NodeRecords {
  /** Other objects whose record says that the node of this name is as it was made for them. */
  others(config: NodeConfig, nodeName: string): readonly NodeConfig[];
  /** Makes the records of other objects undone: the node is changed for this one, or was. Before the change, and before the object goes. */
  take(config: NodeConfig, nodeName: string, signal: AbortSignal): Promise<void>;
  /** A Job of another namespace that came to the node after what the record says. */
  later(applied: Applied): Run | undefined;
}

export interface NodeRecordsOptions {
  readonly client: Pick<KubeClient, 'patchStatus'>;
  readonly perform: Perform<Effect>;
  readonly stores: Pick<Stores, 'configs' | 'recordsOf'>;
  readonly runner: Pick<Runner, 'runsOn'>;
  /** Of the objects; another controller works for those of other namespaces. */
  readonly namespace: string;
}

export function createNodeRecords(options: NodeRecordsOptions): NodeRecords {
  const { client, perform, stores, runner, namespace } = options;

  function others(config: NodeConfig, nodeName: string): readonly NodeConfig[] {
    return stores
      .recordsOf(nodeName)
      .filter((key) => key !== keyOf(config))
      .flatMap((key) => stores.configs.get(key) ?? [])
      .filter((other) => recordOf(other) !== undefined);
  }

  async function take(config: NodeConfig, nodeName: string, signal: AbortSignal): Promise<void> {
    for (const other of others(config, nodeName)) {
      const { resourceVersion } = other.metadata;
      const patch = { metadata: { resourceVersion }, status: { applied: { undone: true } } };
      const written = await perform('controller.status.write', () =>
        client.patchStatus(nodeConfigs, refOfConfig(other), patch, {
          fieldManager: fieldManagers.controller,
          signal,
        }),
      );
      stores.configs.upsert(written);
    }
  }

  function later({ nodeName, at }: Applied): Run | undefined {
    return runner
      .runsOn(nodeName)
      .find(
        ({ config, action, createdAt = '' }) =>
          config.namespace !== namespace &&
          action !== 'check' &&
          Date.parse(createdAt) > Date.parse(at),
      );
  }

  return { others, take, later };
}
