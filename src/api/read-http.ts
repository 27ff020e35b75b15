import * as z from 'zod';
import { shownClusterNetwork } from './cluster-networks.ts';
import { condition } from './condition.ts';
import { existingConfiguration, foundConfiguration } from './found-configuration.ts';
import { nodeConfigMode, nodeConfigState } from './multinicnodeconfig.ts';
import { postAnswer } from './node-configs-http.ts';
import { type BudgetScope, budgetLimits, holdCodes, removalBasis } from './removals.ts';

/** Bodies of the operator's read API, beside the inventory: clusters, nodes, ports and plans. */
export const readPaths = {
  clusters: '/v1/clusters',
  nodes: '/v1/nodes',
  ports: '/v1/ports',
  plan: '/v1/plan',
} as const;

const time = (what: string) => z.string().describe(`${what} (RFC 3339).`);

/** OpenstackConfig as `namespace/name`. */
const configKey = z.string().describe('OpenstackConfig, as namespace/name.');

/** Page of a list; the operator answers at most 250 items if `limit` is absent. */
export const pageQuery = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(1000)
    .optional()
    .describe('Items per page; default 250.'),
  continue: z.string().max(1024).optional().describe('Value of `continue` of the page before.'),
});

const page = {
  continue: z.string().optional().describe('Token of the next page; absent: last page.'),
};

/** Counts by state; an operator of an earlier release does not count `Observed`. */
const stateCounts = z.object(
  Object.fromEntries(nodeConfigState.options.map((state) => [state, z.int().default(0)])) as Record<
    z.infer<typeof nodeConfigState>,
    z.ZodDefault<z.ZodInt>
  >,
);

export const clusterView = z.object({
  providerId: z.string().describe('Business cluster.'),
  reachable: z
    .boolean()
    .optional()
    .describe('Whether Viola reaches it; absent: Viola was not read.'),
  isLegacy: z
    .boolean()
    .optional()
    .describe('True: a legacy Viola, without a list of business clusters; absent: not legacy.'),
  message: z.string().describe("Viola's message about the connection; empty: none."),
  checkedAt: time('When Viola checked the connection').optional(),
  missingRights: z.array(z.string()).optional().describe('Missing rights; absent: unknown.'),
  hasNamespaceMap: z
    .boolean()
    .optional()
    .describe(
      "Whether the operator's setting NAMESPACE_CLUSTERS limits the namespaces that deliver here; absent: an operator of an earlier release.",
    ),
  lastSyncs: z
    .array(z.object({ config: configKey, at: time('End of its last full sync') }))
    .optional()
    .describe('OpenstackConfigs that deliver here; absent: an operator of an earlier release.'),
  nodes: z.int().describe('Nodes delivered by OpenstackConfigs.'),
  nics: stateCounts.describe('NICs by state.'),
  drifted: z.int().describe('Nodes that differ from what was applied.'),
  oldestCheck: time('Oldest check of a node').optional(),
});
export type ClusterView = z.infer<typeof clusterView>;
export const clusterViews = z.object({ items: z.array(clusterView), ...page });

/** NIC of a node: the planned entry with its status in the business cluster. */
const nicView = z.object({
  name: z.string().describe('multinic0 to multinic9.'),
  portId: z.string().optional(),
  macAddress: z.string(),
  addresses: z.array(z.string()).describe('As ip/prefix.'),
  mtu: z.int().optional(),
  networkId: z.string().optional(),
  networkName: z.string().optional(),
  subnetId: z.string().optional(),
  subnetName: z.string().optional(),
  portStatus: z.string().optional().describe("Neutron's status at the last sync, such as ACTIVE."),
  state: z
    .string()
    .describe('Pending, InProgress, Configured, Failed or Observed; Unknown: no status.'),
  reason: z.string().describe('One word; see the table of reasons. Empty: none.'),
  message: z.string(),
  code: z.string().optional().describe('Case of the reason; absent: none, or an earlier agent.'),
  args: z.string().optional().describe('Values in the message, as key=value; absent: none.'),
  carrier: z.boolean().optional().describe('Carrier at the last agent run; absent: unknown.'),
  found: foundConfiguration
    .optional()
    .describe(
      'Configuration by other programs, as the last check found it; absent: none, or unknown.',
    ),
  changedAt: time('When state or reason last changed').optional(),
  checkedAt: time('When the NIC was last checked on the node').optional(),
});
export type NicView = z.infer<typeof nicView>;

/** Why a port is not a NIC. */
const unusedPortView = z.object({
  portId: z.string(),
  macAddress: z.string().optional(),
  address: z.string().optional().describe('First address in a selected subnet.'),
  reason: z.string(),
  message: z.string(),
});

export const nodeView = z.object({
  providerId: z.string(),
  nodeName: z.string(),
  instanceId: z.string().describe('Nova server id.'),
  config: configKey,
  mode: nodeConfigMode
    .optional()
    .describe('Observe: the node is only checked. Absent: Apply, or no object.'),
  existingConfiguration: existingConfiguration
    .optional()
    .describe(
      'Adopt: existing configuration of the NICs is taken over. Absent: Refuse, or no object.',
    ),
  state: z.string().describe('State of the MultiNicNodeConfig; Unknown: no object or no status.'),
  ready: z.enum(['True', 'False', 'Unknown']),
  reason: z.string().describe('Reason of the Ready condition; Drifted if only that is wrong.'),
  message: z.string(),
  since: time('When Ready last changed').optional(),
  nics: z.array(nicView),
  unusedPorts: z.array(unusedPortView),
  drifted: z.boolean(),
  checkedAt: time('Last check of the node').optional(),
  backend: z.string().optional().describe('Network manager: netplan, networkd, keyfile or ifcfg.'),
  agentVersion: z
    .string()
    .optional()
    .describe('Build of the agent that ran last; absent: unknown.'),
  observedAt: time('When the operator read the node'),
  /** Only from `…/nodes/{providerId}/{nodeName}`. */
  object: z
    .object({
      uid: z.string(),
      generation: z.int(),
      observedGeneration: z.int().optional(),
      specHash: z.string().optional(),
      observedSpecHash: z.string().optional(),
      conditions: z.array(condition),
      lastJobName: z.string().optional(),
      attempt: z.int().optional(),
      deleting: z.boolean(),
      heldRemovals: z
        .object({
          code: z
            .string()
            .optional()
            .describe('OverBudget, NotCounted, SideEffect or NotKnownYet.'),
          macs: z.array(z.string()),
          since: time('When the removals were held').optional(),
        })
        .optional()
        .describe('NICs that stay until consent; absent: none.'),
      removed: z
        .array(z.object({ mac: z.string(), basis: removalBasis, at: time('Start of the run') }))
        .optional()
        .describe('Removals of the last hour, with their basis; absent: none.'),
    })
    .optional()
    .describe('The MultiNicNodeConfig; absent in lists, and if the business cluster has none.'),
});
export type NodeView = z.infer<typeof nodeView>;
export const nodeViews = z.object({ items: z.array(nodeView), ...page });

/** States in node lists; Unknown: no object or no status. */
export const listedState = z.enum([...nodeConfigState.options, 'Unknown']);

export const nodesQuery = pageQuery.extend({
  providerId: z.string().max(253).optional().describe('Only this business cluster.'),
  state: listedState.optional().describe('Only nodes in this state.'),
  reason: z
    .string()
    .max(64)
    .optional()
    .describe('Only nodes with this reason: of the table of reasons, or of a node.'),
  config: z
    .string()
    .max(317)
    .optional()
    .describe('Only nodes of this OpenstackConfig (namespace/name).'),
});

/** An OpenstackConfig in relation to a port. */
export const portConfigView = z.object({
  config: configKey,
  selectsServer: z.boolean().optional().describe('Absent: the selection could not be read.'),
  selectsSubnet: z.boolean().optional().describe('Absent: the selection could not be read.'),
  paused: z.string().optional().describe('Value of multinic.io/paused; absent: not paused.'),
  trigger: z.string().describe('Trigger mode: immediate, scheduled, manual or webhook.'),
  ready: z.enum(['True', 'False', 'Unknown']),
  reason: z.string(),
  message: z.string(),
  lastSyncAt: time('End of the last sync of all servers').optional(),
  nextSyncAt: time('Next sync, if it is known').optional(),
});

const portView = z.object({
  portId: z.string(),
  macAddress: z.string(),
  addresses: z.array(z.object({ subnetId: z.string(), ip: z.string() })),
  networkId: z.string(),
  networkName: z.string().optional(),
  status: z.string().describe("Neutron's status, such as ACTIVE."),
  adminStateUp: z.boolean().optional().describe('Absent: not read.'),
  deviceId: z.string().describe('Server; empty: not attached.'),
  deviceOwner: z.string(),
  createdAt: z.string().optional(),
  serverName: z.string().optional(),
  readAt: time('When Neutron was read'),
  source: z.enum(['sync', 'neutron']).describe('The last sync, or a read by id for this request.'),
  configs: z
    .array(portConfigView)
    .describe(
      'OpenstackConfigs of this project that select the server or the subnet, and those of other projects that select the server.',
    ),
  verdict: z
    .object({
      config: configKey,
      nic: z.string().optional().describe('Name of the NIC; absent: the port is not a NIC.'),
      reason: z.string().optional(),
      message: z.string().optional(),
      at: time('End of the sync that decided'),
    })
    .optional()
    .describe('Decision of the last sync; absent: no sync has decided about this port.'),
  node: z
    .object({ providerId: z.string(), nodeName: z.string() })
    .optional()
    .describe('Node of the server; absent: no OpenstackConfig delivers the server.'),
  delivery: z
    .object({
      ok: z.boolean(),
      reason: z.string().optional(),
      message: z.string().optional(),
      at: time('When the node was last sent or compared'),
    })
    .optional()
    .describe('Last delivery of the node; absent: unknown.'),
});
export type PortView = z.infer<typeof portView>;
export const portViews = z.object({ items: z.array(portView) });

export const portsQuery = z.strictObject({
  portId: z.string().max(64).optional(),
  mac: z.string().max(17).optional(),
  address: z.string().max(64).optional(),
  serverId: z.string().max(64).optional(),
});

/** Change of one NIC in a plan. */
const nicChange = z.object({
  name: z.string(),
  change: z.enum(['add', 'change', 'remove']),
  portId: z.string().optional(),
  macAddress: z.string(),
  before: z.record(z.string(), z.unknown()).optional().describe('Fields that differ, as they are.'),
  after: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Fields that differ, as planned; all fields of an added NIC.'),
  cause: z.string().optional().describe('Cause of a removal.'),
  basis: removalBasis.optional().describe('Basis of a removal.'),
});

/** Held NIC, with a removal pending consent. */
export const blockedNic = z.object({
  name: z.string().optional().describe('Absent: the object no longer lists the NIC.'),
  macAddress: z.string(),
  basis: removalBasis.optional().describe('Basis without consent; absent: not decided yet.'),
  code: z
    .enum(holdCodes)
    .optional()
    .describe('Why the removal waits; absent: the controller does not report a cause.'),
});
export type BlockedNic = z.infer<typeof blockedNic>;

/** Budget use, as in the plan. */
const budgetView = z.object({
  scope: z.enum(Object.keys(budgetLimits) as BudgetScope[]).describe('What the budget counts.'),
  used: z.int().describe('Removals of the last hour and of this plan.'),
  total: z.int().describe('Nodes or NICs before these removals.'),
  allowed: z.int().describe('Removals per hour without consent.'),
  freeAt: time('When the oldest counted removal no longer counts').optional(),
});
export type BudgetView = z.infer<typeof budgetView>;

const plannedNode = z.object({
  nodeName: z.string(),
  instanceId: z.string(),
  action: z.enum(['none', 'create', 'update', 'delete']),
  why: z.string().describe('Cause of the action.'),
  nics: z.array(nicChange),
  unconfirmedRemovals: z.array(z.string()).describe('NICs that stay without evidence or consent.'),
  heldNics: z
    .array(blockedNic)
    .optional()
    .describe('NICs whose removal waits for consent; absent: none.'),
});

export const planView = z.object({
  config: configKey,
  generation: z.int(),
  mode: nodeConfigMode
    .optional()
    .describe('Observe: the nodes are only checked, and no NIC changes. Absent: Apply.'),
  existingConfiguration: existingConfiguration
    .optional()
    .describe('Adopt: existing configuration of the NICs is taken over. Absent: Refuse.'),
  calculatedAt: time('When the plan was calculated'),
  servers: z.int(),
  ports: z.int(),
  nodes: z.array(plannedNode).describe('Nodes with an action or unconfirmed removals, by name.'),
  unchanged: z.int().describe('Nodes without action.'),
  heldRemovals: z.int().describe('NICs whose removal waits for consent.'),
  budgets: z
    .array(budgetView)
    .optional()
    .describe('Removals per hour that need no consent; absent: an earlier operator.'),
  problems: z.array(z.object({ reason: z.string(), subject: z.string(), message: z.string() })),
  verdicts: z.array(
    z.object({
      portId: z.string(),
      serverId: z.string(),
      address: z.string().optional(),
      nic: z.string().optional(),
      reason: z.string().optional(),
      message: z.string().optional(),
    }),
  ),
  networks: z
    .array(shownClusterNetwork)
    .optional()
    .describe(
      'Networks of Services and Pods with which the plan compared NICs; absent: unknown, so nothing was compared.',
    ),
  agentJobs: z
    .int()
    .describe('Agent Jobs that would start: one per created, updated or deleted node.'),
  rollouts: z
    .array(
      z.object({
        nodes: z.int().describe('Nodes with these changes.'),
        changes: z
          .array(z.object({ subnet: z.string(), fields: z.array(z.string()) }))
          .describe(
            'Changed settings by subnet; empty: another generation of the OpenstackConfig.',
          ),
        steps: z.array(z.int()).describe('Nodes that each step changes.'),
      }),
    )
    .optional()
    .describe('Changes that the controller applies in steps; absent: an earlier operator.'),
  hash: z.string().describe('sha256 (hex) of OpenstackConfig, nodes and verdicts.'),
  dryRun: z
    .object({
      validated: z.boolean(),
      message: z.string().describe('Why Viola validated nothing; empty: it did.'),
      answer: postAnswer.optional(),
    })
    .optional()
    .describe("Viola's server-side dry run; absent: not a what-if."),
});
export type PlanView = z.infer<typeof planView>;

/** Verb that a token needs for a what-if. */
export const planVerb = 'plan';
