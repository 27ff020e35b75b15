import type { KubeClient } from '../../kube/client/client.ts';
import { type Node, nodes } from '../../kube/core-resources.ts';
import { type Applied, recordOf } from '../jobs/applied.ts';
import { systemUuidOf } from '../objects/machine.ts';
import { instanceIdOf, type NodeConfig, type Stores } from '../objects/stores.ts';
import { successorOf } from './meaning.ts';

/** A node that was changed for an object that means another one by now. */
export interface FormerNode {
  readonly node: Node;
  /** The object that means it now, and replaces what is there. */
  readonly heir: NodeConfig | undefined;
}

/**
 * Finds the node that was changed for the object last, when the object means another one (`now`) or none. It is cleaned for
 * this object, unless an heir means it.
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
    if (!applied || isClean(applied) || now?.metadata.name === applied.nodeName) return undefined;
    const node = await client.find(nodes, { name: applied.nodeName }, { signal });
    if (!node || !isSameNode(applied, node) || mayBeWanted(config, node, now)) return undefined;
    return { node, heir: successorOf(config, node, stores) };
  };
}

/** Whether nothing of the object can be on the node of its record. */
export function isClean({ action, done = false, undone = false }: Applied): boolean {
  return undone || (action === 'cleanup' && done);
}

/**
 * Whether it may be the machine that the object means, registered under two names. Without a systemUUID nobody can tell that
 * it is not; a machineID says nothing here, because machines that were made from one image may share it.
 */
function mayBeWanted(config: NodeConfig, node: Node, now: Node | undefined): boolean {
  const uuid = systemUuidOf(node);
  return uuid === undefined || uuid === instanceIdOf(config) || uuid === (now && systemUuidOf(now));
}

/** Whether a record is about this machine: it may register anew, and one Node may have become another machine. */
function isSameNode({ nodeUid, machineId }: Applied, { metadata, status }: Node): boolean {
  const now = status?.nodeInfo?.machineID;
  if (machineId && now) return machineId === now;
  return nodeUid === metadata.uid;
}
