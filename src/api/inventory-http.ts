import * as z from 'zod';
import { interfaceSpec } from './multinicnodeconfig.ts';
import { removalBasis } from './removals.ts';

/** Inventory HTTP bodies for both generations: the original routes and the newer legacy routes. */
export const inventoryPath = '/v1/inventory/node-configs';
export const interfacesPath = '/v1/interfaces';
export const historyPath = '/v1/inventory/history';

/** Response header of the history: the oldest logged change, in the caller's business clusters (RFC 3339). */
export const oldestHeader = 'x-oldest';

export const inventoryQuery = z.object({
  providerId: z.string().max(253).optional().describe('Only this business cluster.'),
  nodeName: z.string().max(253).optional().describe('Only this node.'),
  instanceId: z.string().max(64).optional().describe('Only this server.'),
});

const inventoryRecord = z.object({
  providerId: z.string(),
  nodeName: z.string(),
  instanceId: z.string(),
  config: z.object({
    nodeName: z.string(),
    instanceId: z.string(),
    interfaces: z.array(z.looseObject(interfaceSpec.shape)),
  }),
  lastConfigHash: z.string().describe('sha256 (hex) of the config.'),
  updatedAt: z.string().describe('When the config last changed (RFC 3339).'),
});

export const inventoryRecords = z.array(inventoryRecord);

const seenInterface = z.looseObject({
  ...interfaceSpec.shape,
  subnetName: z.string().optional().describe('Name of the subnet of cidr.'),
  networkName: z.string().optional().describe('Name of the network.'),
  portStatus: z
    .string()
    .optional()
    .describe('Status of the port in Neutron at the last sync, such as ACTIVE.'),
  createdAt: z
    .string()
    .optional()
    .describe(
      'When the port was created, or first delivered if Neutron reports no time (RFC 3339).',
    ),
});

/** Record with observed port data, which are not part of the delivered and hashed config. */
const observedRecord = inventoryRecord.extend({
  config: inventoryRecord.shape.config.extend({ interfaces: z.array(seenInterface) }),
  lastConfigHash: z
    .string()
    .describe(
      'sha256 (hex) of the config without subnetName, networkName, portStatus and createdAt.',
    ),
});

export const observedRecords = z.array(observedRecord);

/** Strict: ignoring a misspelt filter would return all nodes' changes. */
export const historyQuery = z.strictObject({
  providerId: z.string().max(253).optional().describe('Only this business cluster.'),
  nodeName: z.string().max(253).optional().describe('Only this node.'),
  portId: z.string().max(64).optional().describe('Only this Neutron port.'),
  since: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('Only changes at this time or later (RFC 3339).'),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(200)
    .default(100)
    .describe('Maximum number of changes in the response.'),
  continue: z.string().max(64).optional().describe('Value of x-continue from the previous page.'),
});

const loggedInterface = z.looseObject(interfaceSpec.shape);

const inventoryChange = z.object({
  at: z.string().describe('When the change was recorded (RFC 3339).'),
  providerId: z.string(),
  nodeName: z.string(),
  instanceId: z.string(),
  change: z
    .enum(['added', 'changed', 'removed', 'port-replaced'])
    .describe(
      'port-replaced: a port made again with the MAC took the NIC over; portId is the new port, before.portId the former.',
    ),
  basis: removalBasis
    .optional()
    .describe(
      'Why the NIC was removed: evidence (OpenStack shows the loss of the port or server), consent (a user consented to this removal), named (a user or GitOps edited or deleted the object) or sideEffect (another change). Absent: unknown, or no removal.',
    ),
  name: z.string().describe('Name of the NIC.'),
  portId: z.string().describe('Neutron port; empty for an entry without one.'),
  macAddress: z.string(),
  before: loggedInterface.optional().describe('The NIC before; absent: it was added.'),
  after: loggedInterface.optional().describe('The NIC after; absent: it was removed.'),
  openstackConfig: z
    .object({ namespace: z.string(), name: z.string(), generation: z.int() })
    .describe('The OpenstackConfig that delivered the change.'),
});

export const inventoryChanges = z.array(inventoryChange);

export type InventoryChange = z.infer<typeof inventoryChange>;

const inventoryNode = z.object({
  providerId: z.string(),
  nodeName: z.string(),
  instanceId: z.string(),
  interfaceCount: z.int(),
  updatedAt: z.string().describe('When its config last changed (RFC 3339).'),
});

const inventoryProvider = z.object({
  providerId: z.string(),
  nodeCount: z.int(),
  updatedAt: z.string().describe('When the config of one of its nodes last changed (RFC 3339).'),
  nodes: z.array(inventoryNode),
});

export const inventoryProviders = z.object({ providers: z.array(inventoryProvider) });

export type InventoryProvider = z.infer<typeof inventoryProvider>;
export type ObservedRecord = z.infer<typeof observedRecord>;
export type InventoryRecord = z.infer<typeof inventoryRecord>;
