import type { KubeClient } from '../../kube/client/client.ts';
import { type Node, nodes } from '../../kube/core-resources.ts';
import { type Applied, recordOf } from '../jobs/applied.ts';
import { systemUuidOf } from '../objects/machine.ts';
import {
  instanceIdOf,
  type NodeConfig,
  type NodeDirectory,
  type Stores,
} from '../objects/stores.ts';
import { successorOf } from '../records/meaning.ts';
import { mayHaveNics } from '../removals/known.ts';

/** A node changed earlier for an object that now refers to another node. */
interface FormerNode {
  readonly node: Node;
  /** Object now referring to the former node; its first run replaces the leftovers. */
  readonly successor: NodeConfig | undefined;
}

/**
 * Finds the node last changed for the object, if the object now refers to another node (`now`) or none. Without a
 * successor the former node is cleaned for this object.
 */
export type FindFormerNode = (
  config: NodeConfig,
  now: Node | undefined,
  signal: AbortSignal,
) => Promise<FormerNode | undefined>;

export function createFindFormerNode(
  client: Pick<KubeClient, 'find'>,
  stores: Stores,
): FindFormerNode {
  return async (config, now, signal) => {
    const applied = recordOf(config);
    if (!applied || isClean(config, applied) || now?.metadata.name === applied.nodeName)
      return undefined;
    const node = await client.find(nodes, { name: applied.nodeName }, { signal });
    if (!node || !isSameNode(applied, node) || mayBeWanted(config, node, now)) return undefined;
    return { node, successor: successorOf(config, node, stores) };
  };
}

/**
 * True if the Node was the object's, and a new machine has taken its name: the recorded machine is gone. A Node without
 * systemUUID proves nothing.
 */
export function isReplacedIn(config: NodeConfig, directory: NodeDirectory): boolean {
  const applied = recordOf(config);
  const node = applied && directory.byName(applied.nodeName);
  if (!node || isSameNode(applied, node)) return false;
  const uuid = systemUuidOf(node);
  return uuid !== undefined && uuid !== instanceIdOf(config);
}

/** True if the recorded node has no NICs from the object: a clean-up that left held NICs is not complete. */
function isClean(config: NodeConfig, { action, done = false, undone = false }: Applied): boolean {
  return undone || (action === 'cleanup' && done && !mayHaveNics(config));
}

/**
 * True if the Node may be the object's current machine, registered under two names. Without a systemUUID a match cannot
 * be excluded. A machineID proves nothing, because machines from one image may share it.
 */
function mayBeWanted(config: NodeConfig, node: Node, now: Node | undefined): boolean {
  const uuid = systemUuidOf(node);
  return uuid === undefined || uuid === instanceIdOf(config) || uuid === (now && systemUuidOf(now));
}

/** True if the record is about this machine: a machine may re-register, and a Node name may pass to another machine. */
function isSameNode({ nodeUid, machineId }: Applied, { metadata, status }: Node): boolean {
  const now = status?.nodeInfo?.machineID;
  if (machineId && now) return machineId === now;
  return nodeUid === metadata.uid;
}
