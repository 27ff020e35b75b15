import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import type { JobRequest } from '../api/job.ts';
import { canonicalJson } from '../api/spec-hash.ts';
import type { Node } from '../kube/core-resources.ts';
import type { AcceptedSpec } from './accept.ts';
import type { Terms } from './applied.ts';
import type { NodeConfig } from './node-config.ts';
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

export interface Asked {
  readonly config: Pick<NodeConfig, 'status'>;
  readonly node: Node;
  readonly contents: Contents;
}

/** The agent's instructions. It has no access to the API server: the Node's own addresses travel with them. */
export function requestOf(
  order: Order,
  { config, node, contents: { interfaces, keep } }: Asked,
  { protocol, hostFence }: Terms,
): JobRequest {
  const ports = [
    ...interfaces.flatMap(({ addresses }) => addresses.map((text) => text.split('/')[0])),
    ...(config.status?.interfaceStatuses ?? []).map(({ address }) => address),
  ];
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
    protectedAddresses: addressesOf(node, new Set(ports)),
    interfaces: [...interfaces],
    ...(keep.length > 0 ? { keep: [...keep] } : {}),
  };
}

/**
 * InternalIP, ExternalIP and whatever else a cloud provider lists; host names are left out. The cloud controller of OpenStack
 * lists the addresses of all ports of a server, those of our NICs too, and these are not what the node is reached by: that is
 * the first InternalIP of its family.
 */
function addressesOf({ status }: Node, ports: ReadonlySet<string | undefined>): string[] {
  const listed = (status?.addresses ?? []).filter(({ address }) => isIP(address) !== 0);
  const internal = listed.filter(({ type }) => type === 'InternalIP');
  const own = [4, 6].map((family) => internal.find(({ address }) => isIP(address) === family));
  const kept = listed.filter((one) => own.includes(one) || !ports.has(one.address));
  return [...new Set(kept.map(({ address }) => address))];
}
