import * as z from 'zod';
import { interfaceSpec } from './multinicnodeconfig.ts';

/** HTTP bodies of the inventory: `GET /v1/inventory/node-configs` (the generation of seed 000). */
export const inventoryPath = '/v1/inventory/node-configs';

export const inventoryQuery = z.object({
  providerId: z.string().max(253).optional().describe('Only this business cluster.'),
  nodeName: z.string().max(253).optional().describe('Only this node.'),
  instanceId: z.string().max(64).optional().describe('Only this server.'),
});

export const inventoryRecord = z.object({
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

export type InventoryQuery = z.infer<typeof inventoryQuery>;
export type InventoryRecord = z.infer<typeof inventoryRecord>;
