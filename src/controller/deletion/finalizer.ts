import type { Effect } from '../../api/effects.ts';
import { fieldManagers, finalizers } from '../../api/names.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { sharedReads } from '../../kube/client/shared-reads.ts';
import { type Node, nodes } from '../../kube/core-resources.ts';
import type { ObjectRef } from '../../kube/object.ts';
import { defineResource } from '../../kube/resource.ts';
import type { Perform } from '../../process/effects.ts';
import { recordOf } from '../jobs/applied.ts';
import type { Run, Runner } from '../jobs/runner.ts';
import { systemUuidOf } from '../objects/machine.ts';
import {
  instanceIdOf,
  type NodeConfig,
  nodeConfigs,
  nodeNameOf,
  slimNode,
} from '../objects/stores.ts';

export interface DeletionOptions {
  readonly client: Pick<KubeClient, 'listAll' | 'patch'>;
  readonly runner: Pick<Runner, 'runsFor' | 'remove'>;
  readonly perform: Perform<Effect>;
}

/** Finalizer handling and removal of obsolete runs. */
export interface Deletion {
  /** Adds the finalizer before any change on the node; returns the stored object. */
  addFinalizer(config: NodeConfig, signal: AbortSignal): Promise<NodeConfig>;
  /** Removes the finalizer. */
  release(config: NodeConfig, signal: AbortSignal): Promise<void>;
  /** True if the object's node is certainly gone, read from the API server. */
  nodeIsGone(config: NodeConfig, signal: AbortSignal): Promise<boolean>;
  /** Deletes the object's runs that have not started, when no run may start. */
  withdraw(config: NodeConfig, signal: AbortSignal): Promise<void>;
  /** Deletes runs for deleted objects with the same name. */
  collect(ref: ObjectRef, uid: string | undefined, signal: AbortSignal): Promise<void>;
}

/** Nodes are slimmed while parsing: all full Nodes of a large cluster exceed the heap. */
const slimNodes = defineResource<Node>({ ...nodes, parse: (raw) => slimNode(raw as Node) });

/** True if the object has our finalizer. */
export function hasFinalizer({ metadata }: NodeConfig): boolean {
  return metadata.finalizers?.includes(finalizers.nodeConfig) ?? false;
}

export function createDeletion({ client, runner, perform }: DeletionOptions): Deletion {
  const listNodes = sharedReads(
    async (signal) => (await client.listAll(slimNodes, { signal })).items,
  );

  function setFinalizers(config: NodeConfig, list: readonly string[], signal: AbortSignal) {
    const { namespace = '', name, resourceVersion } = config.metadata;
    // A merge patch replaces the whole list, hence the resourceVersion precondition.
    const patch = { metadata: { resourceVersion, finalizers: list } };
    const options = { fieldManager: fieldManagers.controller, signal };
    return client.patch(nodeConfigs, { namespace, name }, patch, options);
  }

  async function addFinalizer(config: NodeConfig, signal: AbortSignal): Promise<NodeConfig> {
    const list = [...(config.metadata.finalizers ?? []), finalizers.nodeConfig];
    return perform('controller.finalizer.add', () => setFinalizers(config, list, signal));
  }

  async function release(config: NodeConfig, signal: AbortSignal): Promise<void> {
    const list = config.metadata.finalizers?.filter((name) => name !== finalizers.nodeConfig) ?? [];
    await perform('controller.finalizer.remove', () => setFinalizers(config, list, signal));
  }

  async function nodeIsGone(config: NodeConfig, signal: AbortSignal): Promise<boolean> {
    const instanceId = instanceIdOf(config);
    const names = new Set([nodeNameOf(config), recordOf(config)?.nodeName]);
    const found = await listNodes(signal);
    if (instanceId === undefined) return !found.some(({ metadata }) => names.has(metadata.name));
    return !found.some((node) => {
      const uuid = systemUuidOf(node);
      // A Node without a systemUUID at the moment may be the object's node.
      return uuid === undefined ? names.has(node.metadata.name) : uuid === instanceId;
    });
  }

  async function withdraw(config: NodeConfig, signal: AbortSignal): Promise<void> {
    const { namespace = '', name, uid } = config.metadata;
    for (const run of runner.runsFor({ namespace, name })) {
      if (run.uid === uid && hasNotBegun(run)) await runner.remove(run, signal);
    }
  }

  async function collect(ref: ObjectRef, uid: string | undefined, signal: AbortSignal) {
    for (const run of runner.runsFor(ref)) {
      // A running agent is left to finish; only a later run on the node stops it.
      if (run.uid !== uid && (hasNotBegun(run) || run.phase === 'ended')) {
        await runner.remove(run, signal);
      }
    }
  }

  return { addFinalizer, release, nodeIsGone, withdraw, collect };
}

function hasNotBegun({ phase }: Run): boolean {
  return phase === 'prepared' || phase === 'pending';
}
