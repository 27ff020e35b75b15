import * as z from 'zod';
import { conditions } from './condition.ts';
import { nodeConfigState } from './multinicnodeconfig.ts';
import type { ObjectMeta } from './object-meta.ts';

const text = (what: string) => z.string().optional().describe(what);

/** NIC entry. The schema has no limits: an invalid entry refuses its own node, not the whole object. */
const bizInterface = z.object({
  portId: text('Neutron port id; the NIC name belongs to the port.'),
  macAddress: text('MAC address of the port, in colon form; how the node finds the NIC.'),
  address: text('IPv4 address of the NIC, without prefix.'),
  cidr: text('Subnet of address: host form 10.0.0.10/24 or network form 10.0.0.0/24.'),
  mtu: z.int().optional().describe('MTU of the network in bytes, 68 to 9000.'),
});

export type BizInterface = z.infer<typeof bizInterface>;

const bizNode = z.object({
  attachedNodeId: text('Nova server id; the node is the one whose systemUUID equals it.'),
  attachedNodeName: text('Kubernetes node name; names the MultiNicNodeConfig of the node.'),
  interfaces: z
    .array(bizInterface)
    .optional()
    .describe('NICs of the node, at most 10.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
});

export type BizNode = z.infer<typeof bizNode>;

export const bizConfigSpec = z.object({
  providerId: text('Business cluster (x-provider-id).'),
  specHash: text('Hash by the writer; copied to status.observedSpecHash and otherwise unused.'),
  nodeConfigs: z
    .array(bizNode)
    .optional()
    .describe('One entry per node; each becomes a MultiNicNodeConfig in the same namespace.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
});

export type BizConfigSpec = z.infer<typeof bizConfigSpec>;

const bizNodeStatus = z.object({
  attachedNodeId: text('attachedNodeId of the entry.'),
  attachedNodeName: text('attachedNodeName of the entry.'),
  state: nodeConfigState.optional().describe('State of the MultiNicNodeConfig of the node.'),
  lastProcessed: text('When the node was last processed (RFC 3339).'),
  lastJobName: text('Last agent Job of the node.'),
  reason: text('Why the node is not Configured; see the table of reasons.'),
  message: text('What happened and what to do.'),
});

export type BizNodeStatus = z.infer<typeof bizNodeStatus>;

const count = (what: string) => z.int().optional().describe(what);

export const bizConfigStatus = z.object({
  observedGeneration: z.int().optional().describe('Generation this status is about.'),
  observedSpecHash: text('specHash of that generation.'),
  conditions: conditions
    .optional()
    .describe('Applied, InProgress, Ready, Reconciling, Stalled, Accepted, ReadOnly, RemovalHeld.'),
  nodeStatuses: z
    .array(bizNodeStatus)
    .optional()
    .describe(
      'One entry per node, in the order of the spec; near the size limit of the API server only nodes that are not Configured, then none.',
    )
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  summary: z
    .object({
      totalNodes: count('Entries of the spec.'),
      configuredNodes: count('Nodes whose NICs are all configured.'),
      failedNodes: count('Nodes that failed, and refused entries.'),
      pendingNodes: count('All other nodes; those in progress, too.'),
    })
    .optional()
    .describe('Counts of all nodes.'),
  allowedRemovals: text(
    'Value of the annotation multinic.io/allow-removals that was handled last.',
  ),
  allowedRemovalsGeneration: z
    .int()
    .optional()
    .describe('Generation whose removals that value allows; absent: none.'),
  allowedRemovalsAt: text(
    'When that value was first handled (RFC 3339); the consent ends an hour later.',
  ),
});

export type BizConfigStatus = z.infer<typeof bizConfigStatus>;

/** One object with all NICs in a cluster, as legacy writers send. */
export interface MultiNicBizConfig {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  /** undefined: the object has no nodes. */
  readonly spec?: BizConfigSpec;
  readonly status?: BizConfigStatus;
}
