import * as z from 'zod';
import { attentionOf, configuredNics, expectedPorts } from '../node-summary.ts';
import type { NodeView } from '../read-http.ts';
import { list, screenFields, time } from './screen.ts';

/** Query for `nodes`. A field's facet counts the nodes with a match in all further fields. */
export const nodesScreenQuery = z.object({
  cluster: z.string().max(253).optional().describe('Only this business cluster.'),
  config: z.string().max(317).optional().describe('Only this OpenstackConfig, as namespace/name.'),
  state: z.string().max(64).optional().describe('Only this state, such as Failed.'),
  reason: z
    .string()
    .max(64)
    .optional()
    .describe('Only nodes that need attention for this reason, also of a NIC or an unused port.'),
  network: z.string().max(255).optional().describe('Only nodes with a NIC in it: name, or id.'),
  backend: z.string().max(64).optional().describe('Only this network manager, such as netplan.'),
  text: z
    .string()
    .max(255)
    .optional()
    .describe('Only nodes with this text in name, server, address, MAC, NIC or port.'),
  continue: z.string().max(1024).optional().describe('Value of `continue` of the page before.'),
});

/** A node as a row. */
const nodeRow = z.object({
  providerId: z.string(),
  nodeName: z.string(),
  instanceId: z.string(),
  config: z.string().describe('OpenstackConfig, as namespace/name.'),
  state: z.string().describe('State of the MultiNicNodeConfig; Unknown: no object or no status.'),
  ready: z.enum(['True', 'False', 'Unknown']),
  drifted: z.boolean(),
  reason: z.string().describe('Reason for attention; empty: nothing is wrong.'),
  since: time('When Ready last changed').optional(),
  nics: z.object({ configured: z.int(), all: z.int() }),
  unusedPorts: z.int().describe('Ports that are expected among the NICs, and are none.'),
  networks: list(z.string()).describe('Names of the networks, or ids, in the order of the NICs.'),
  backend: z.string().optional().describe('Absent: unknown.'),
  agentVersion: z.string().optional().describe('Absent: unknown.'),
  checkedAt: time('Last check of the node').optional(),
  mode: z.enum(['Apply', 'Observe']).optional(),
});
export type NodeRow = z.infer<typeof nodeRow>;

/** Values with their nodes, most nodes first; at most 50. */
const facet = list(z.object({ value: z.string(), count: z.int() }));

/** `nodes`: a page, ordered by business cluster and name. */
export const nodesAnswer = z.object({
  ...screenFields,
  items: list(nodeRow).describe('At most 250.'),
  total: z.int().describe('Matching nodes, all pages together.'),
  all: z.int().describe('Nodes without any filter.'),
  continue: z.string().optional().describe('Token of the next page; absent: last page.'),
  facets: z.object({
    cluster: facet,
    config: facet,
    state: facet,
    reason: facet,
    network: facet,
    backend: facet,
  }),
});

/** Returns a node as a row; also for the rows in events. */
export function nodeRowOf(node: NodeView): NodeRow {
  const { providerId, nodeName, instanceId, config, state, ready, drifted, nics, mode } = node;
  const { since, backend, agentVersion, checkedAt } = node;
  return {
    providerId,
    nodeName,
    instanceId,
    config,
    state,
    ready,
    drifted,
    reason: attentionOf(node),
    nics: { configured: configuredNics(node), all: nics.length },
    unusedPorts: expectedPorts(node).length,
    networks: [
      ...new Set(nics.flatMap(({ networkName, networkId }) => networkName ?? networkId ?? [])),
    ],
    since,
    backend,
    agentVersion,
    checkedAt,
    mode,
  };
}
