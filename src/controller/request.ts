import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import type { JobRequest } from '../api/job.ts';
import { canonicalJson } from '../api/spec-hash.ts';
import type { Node } from '../kube/core-resources.ts';
import type { AcceptedSpec } from './accept.ts';
import type { Terms } from './applied.ts';
import type { Order } from './runner.ts';

/** What the agent shall bring about on a node. */
export type Contents = Pick<AcceptedSpec, 'interfaces' | 'keep'>;

/** Nothing of ours shall be left on the node. */
export const nothing: Contents = { interfaces: [], keep: [] };

/** Hash of what is asked for on which node: equal ones need no second run. */
export function contentHash(node: Node, { interfaces, keep }: Contents): string {
  const text = canonicalJson({ node: node.metadata.name, interfaces, keep });
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** The agent's instructions. It has no access to the API server: the Node's own addresses travel with them. */
export function requestOf(
  order: Order,
  { node, contents: { interfaces, keep } }: { readonly node: Node; readonly contents: Contents },
  { protocol, hostFence }: Terms,
): JobRequest {
  const { machineId } = order.machine;
  return {
    protocol,
    uid: order.uid,
    generation: order.generation,
    attempt: order.attempt,
    action: order.action,
    ...(protocol === 2 && machineId !== undefined ? { machineId } : {}),
    ...(protocol === 2 && hostFence ? { supersedes: hostFence } : {}),
    nodeName: node.metadata.name,
    protectedAddresses: addressesOf(node),
    interfaces: [...interfaces],
    ...(keep.length > 0 ? { keep: [...keep] } : {}),
  };
}

/** InternalIP, ExternalIP and whatever else a cloud provider lists; host names are left out. */
function addressesOf({ status }: Node): string[] {
  const texts = (status?.addresses ?? []).map(({ address }) => address);
  return [...new Set(texts.filter((text) => isIP(text) !== 0))];
}
