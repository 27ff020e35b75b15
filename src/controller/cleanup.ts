import type { Effect } from '../api/effects.ts';
import { fieldManagers, finalizers } from '../api/names.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { nodes } from '../kube/core-resources.ts';
import type { ObjectRef } from '../kube/object.ts';
import type { Perform } from '../process/effects.ts';
import { instanceIdOf, type NodeConfig, nodeConfigs, nodeNameOf } from './node-config.ts';
import type { Runner } from './runner.ts';
import { systemUuidOf } from './target.ts';

export interface CleanupOptions {
  readonly client: Pick<KubeClient, 'find' | 'listAll' | 'patch'>;
  readonly runner: Pick<Runner, 'runsFor' | 'remove'>;
  readonly perform: Perform<Effect>;
}

/** What has to be gone before an object may go, and what may be left when it is gone. */
export interface Cleanup {
  /** Keeps the object until its node is clean; before anything is done on the node. */
  hold(config: NodeConfig, signal: AbortSignal): Promise<NodeConfig>;
  /** Lets the object go. */
  release(config: NodeConfig, signal: AbortSignal): Promise<void>;
  /** Whether the node of an object is gone for certain, read from the server now. */
  nodeIsGone(config: NodeConfig, signal: AbortSignal): Promise<boolean>;
  /** Removes runs for objects that had this name and do not exist any more. */
  collect(ref: ObjectRef, uid: string | undefined, signal: AbortSignal): Promise<void>;
}

/** Whether our finalizer is on the object. */
export function isHeld({ metadata }: NodeConfig): boolean {
  return metadata.finalizers?.includes(finalizers.nodeConfig) ?? false;
}

export function createCleanup({ client, runner, perform }: CleanupOptions): Cleanup {
  function setFinalizers(config: NodeConfig, list: readonly string[], signal: AbortSignal) {
    const { namespace = '', name, resourceVersion } = config.metadata;
    // A merge patch replaces the whole list: only of the version that was looked at.
    const patch = { metadata: { resourceVersion, finalizers: list } };
    const options = { fieldManager: fieldManagers.controller, signal };
    return client.patch(nodeConfigs, { namespace, name }, patch, options);
  }

  async function hold(config: NodeConfig, signal: AbortSignal): Promise<NodeConfig> {
    const list = [...(config.metadata.finalizers ?? []), finalizers.nodeConfig];
    return perform('controller.finalizer.add', () => setFinalizers(config, list, signal));
  }

  async function release(config: NodeConfig, signal: AbortSignal): Promise<void> {
    const list = config.metadata.finalizers?.filter((name) => name !== finalizers.nodeConfig) ?? [];
    await perform('controller.finalizer.remove', () => setFinalizers(config, list, signal));
  }

  async function nodeIsGone(config: NodeConfig, signal: AbortSignal): Promise<boolean> {
    const instanceId = instanceIdOf(config);
    if (instanceId === undefined) {
      return (await client.find(nodes, { name: nodeNameOf(config) }, { signal })) === undefined;
    }
    const { items } = await client.listAll(nodes, { signal });
    return !items.some((node) => systemUuidOf(node) === instanceId);
  }

  async function collect(ref: ObjectRef, uid: string | undefined, signal: AbortSignal) {
    for (const run of runner.runsFor(ref)) {
      // One that works is left to end: its node is told to stop only by what comes after it.
      if (run.uid !== uid && run.phase !== 'running' && run.phase !== 'ending') {
        await runner.remove(run, signal);
      }
    }
  }

  return { hold, release, nodeIsGone, collect };
}
