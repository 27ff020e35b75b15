import type { Effect } from '../../api/effects.ts';
import { fieldManagers } from '../../api/names.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { keyOf } from '../../kube/object.ts';
import type { Perform } from '../../process/effects.ts';
import { type Applied, recordOf } from '../jobs/applied.ts';
import type { Run, Runner } from '../jobs/runner.ts';
import { type NodeConfig, nodeConfigs, refOfConfig, type Stores } from '../objects/stores.ts';

/**
 * Records per node. Each node has one valid record: the object for which the node was changed last. Records are indexed
 * by node name, because a record counts only on its named Node.
 */
export interface NodeRecords {
  /** Returns other objects whose record claims the node of this name. */
  others(config: NodeConfig, nodeName: string): readonly NodeConfig[];
  /**
   * Marks other objects' records undone, because the node is or was changed for this object. Call before the change and
   * before the object's release.
   */
  take(config: NodeConfig, nodeName: string, signal: AbortSignal): Promise<void>;
  /** Returns a Job from another namespace that reached the node after this record. */
  later(applied: Applied): Run | undefined;
}

export interface NodeRecordsOptions {
  readonly client: Pick<KubeClient, 'patchStatus'>;
  readonly perform: Perform<Effect>;
  readonly stores: Pick<Stores, 'configs' | 'recordsOf'>;
  readonly runner: Pick<Runner, 'runsOn'>;
  /** Namespace of the objects; another controller handles other namespaces. */
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
