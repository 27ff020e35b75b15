import { annotations } from '../api/names.ts';
import { Store } from '../kube/cache/store.ts';
import type { Node } from '../kube/core-resources.ts';
import { type ObjectRef, refOf } from '../kube/object.ts';
import { isWrittenByOther } from './applied.ts';
import { systemUuidOf } from './machine.ts';
import { instanceIdOf, type NodeConfig, nodeNameOf } from './node-config.ts';

/** Nodes by what tells who they are. */
export interface NodeDirectory {
  /** Nodes whose `systemUUID`, lower case, is this. */
  bySystemUuid(uuid: string): readonly Node[];
  byName(name: string): Node | undefined;
}

/** Objects by what tells which node they mean. */
export interface ConfigDirectory {
  byInstanceId(id: string): readonly NodeConfig[];
  byNodeName(name: string): readonly NodeConfig[];
}

/** Objects and nodes as they were last seen, found by what they have in common. */
export interface Stores {
  readonly configs: Store<NodeConfig>;
  readonly nodes: Store<Node>;
  readonly configDirectory: ConfigDirectory;
  readonly nodeDirectory: NodeDirectory;
  /** How many objects were deleted in this second without anybody's consent, and are still there. */
  readonly leavingSince: (second: Date) => number;
  /** Name of an object whose status the deployed controller wrote, and that nobody told us to take over. */
  readonly foreign: () => string | undefined;
  /** How many objects have a status that is about their spec as it is now. */
  readonly processed: () => number;
}

export function createStores(): Stores {
  const configs = new Store<NodeConfig>({
    packed: true,
    indexes: {
      instance: (config) => given(instanceIdOf(config)),
      nodeName: (config) => [nodeNameOf(config)],
      leaving: (config) => (hasConsent(config) ? [] : given(secondOf(deletedAt(config)))),
      foreign: (config) => (isForeign(config) ? ['yes'] : []),
      processed: (config) => (isProcessed(config) ? ['yes'] : []),
    },
  });
  const nodes = new Store<Node>({
    indexes: { systemUuid: (node) => given(systemUuidOf(node)) },
  });
  return {
    configs,
    nodes,
    configDirectory: {
      byInstanceId: (id) => configs.byIndex('instance', id),
      byNodeName: (name) => configs.byIndex('nodeName', name),
    },
    nodeDirectory: {
      bySystemUuid: (uuid) => nodes.byIndex('systemUuid', uuid),
      byName: (name) => nodes.get(name),
    },
    // Counted and not looked at: each visit asks, and an object is parsed at each look.
    leavingSince: (second) => configs.countByIndex('leaving', secondOf(second) ?? ''),
    foreign: () => {
      const key = configs.keyByIndex('foreign', 'yes');
      return key && refOf(key).name;
    },
    processed: () => configs.countByIndex('processed', 'yes'),
  };
}

/** When the object was deleted, by the API server's clock. */
export function deletedAt({ metadata }: NodeConfig): Date | undefined {
  return metadata.deletionTimestamp === undefined
    ? undefined
    : new Date(metadata.deletionTimestamp);
}

/** The API server says it in whole seconds; whoever else wrote it may have said more. */
function secondOf(date: Date | undefined): string | undefined {
  return date && String(Math.floor(date.getTime() / 1_000));
}

/** Whether somebody said that the object is deleted on purpose. */
export function hasConsent({ metadata }: NodeConfig): boolean {
  return metadata.annotations?.[annotations.deleteConsent] !== undefined;
}

function isProcessed({ metadata, status }: NodeConfig): boolean {
  return (
    status?.observedGeneration !== undefined && status.observedGeneration === metadata.generation
  );
}

function isForeign({ metadata, status }: NodeConfig): boolean {
  if (metadata.annotations?.[annotations.takeOver] !== undefined) return false;
  return status !== undefined && isWrittenByOther(status);
}

/** Objects without a value are found by none: they have nothing in common. */
function given(value: string | undefined): readonly string[] {
  return value === undefined ? [] : [value];
}

/** What nobody here reads is not kept: a Node with its images is 10 KiB. */
export function slimNode({ apiVersion, kind, metadata, status }: Node): Node {
  const { name, uid, resourceVersion } = metadata;
  const { addresses = [], nodeInfo, conditions = [] } = status ?? {};
  return {
    ...(apiVersion ? { apiVersion } : {}),
    ...(kind ? { kind } : {}),
    metadata: { name, ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) },
    status: {
      addresses,
      // Its heartbeat is left out: it says nothing new ten times a minute.
      conditions: conditions
        .filter(({ type }) => type === 'Ready')
        .map(({ type, status: holds }) => ({ type, status: holds })),
      ...(nodeInfo ? { nodeInfo } : {}),
    },
  };
}

/** The reference by which an object is written. */
export function refOfConfig({
  metadata: { namespace = '', name },
}: NodeConfig): Required<ObjectRef> {
  return { namespace, name };
}
