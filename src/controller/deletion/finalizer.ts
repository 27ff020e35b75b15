import type { Effect } from '../../api/effects.ts';
import { fieldManagers, finalizers } from '../../api/names.ts';
import type { KubeClient } from '../../kube/client/client.ts';
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
import { sharedReads } from './shared-reads.ts';

export interface DeletionOptions {
  readonly client: Pick<KubeClient, 'listAll' | 'patch'>;
  readonly runner: Pick<Runner, 'runsFor' | 'remove'>;
  readonly perform: Perform<Effect>;
}

/** What has to be gone before an object may go, and what may be left when it is gone. */
export interface Deletion {
  /** Keeps the object until its node is clean; before anything is done on the node. */
  hold(config: NodeConfig, signal: AbortSignal): Promise<NodeConfig>;
  /** Lets the object go. */
  release(config: NodeConfig, signal: AbortSignal): Promise<void>;
  /** Whether the node of an object is gone for certain, read from the server now. */
  nodeIsGone(config: NodeConfig, signal: AbortSignal): Promise<boolean>;
  /** Takes back the runs of an object that have not begun, when none may begin. */
  withdraw(config: NodeConfig, signal: AbortSignal): Promise<void>;
  /** Removes runs for objects that had this name and do not exist any more. */
  collect(ref: ObjectRef, uid: string | undefined, signal: AbortSignal): Promise<void>;
}

/** Each is cut down as it is read: whole, all Nodes of a large cluster are more than the heap has room for. */
const slimNodes = defineResource<Node>({ ...nodes, parse: (raw) => slimNode(raw as Node) });

/** Whether our finalizer is on the object. */
export function hasFinalizer({ metadata }: NodeConfig): boolean {
  return metadata.finalizers?.includes(finalizers.nodeConfig) ?? false;
}

export function createDeletion({ client, runner, perform }: DeletionOptions): Deletion {
  const listNodes = sharedReads(
    async (signal) => (await client.listAll(slimNodes, { signal })).items,
  );

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
    const names = new Set([nodeNameOf(config), recordOf(config)?.nodeName]);
    const found = await listNodes(signal);
    if (instanceId === undefined) return !found.some(({ metadata }) => names.has(metadata.name));
    return !found.some((node) => {
      const uuid = systemUuidOf(node);
      // A Node that does not say who it is for the moment may well be the one.
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
      // One that works is left to end: its node is told to stop only by what comes after it.
      if (run.uid !== uid && (hasNotBegun(run) || run.phase === 'ended')) {
        await runner.remove(run, signal);
      }
    }
  }

  return { hold, release, nodeIsGone, withdraw, collect };
}

function hasNotBegun({ phase }: Run): boolean {
  return phase === 'prepared' || phase === 'pending';
}
