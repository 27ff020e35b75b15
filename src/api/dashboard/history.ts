import * as z from 'zod';
import { historyQuery, inventoryChanges } from '../inventory-http.ts';
import { list, screenFields, time } from './screen.ts';

const change = inventoryChanges.element.shape;

/** Query for `history`. */
export const historyScreenQuery = z.object({
  target: z
    .string()
    .max(1024)
    .optional()
    .describe('Port id, MAC, address, NIC, NODE/NIC or node; absent: all.'),
  cluster: historyQuery.shape.providerId,
  namespace: z.string().max(63).optional().describe('Only OpenstackConfigs in this namespace.'),
  since: historyQuery.shape.since,
  continue: historyQuery.shape.continue.describe('Value of `continue` of the page before.'),
});

/** A change of a NIC. */
const shownChange = z.object({
  at: change.at,
  providerId: z.string(),
  nodeName: z.string(),
  nic: z.string().describe('Name of the NIC; empty: unknown.'),
  portId: change.portId,
  macAddress: z.string(),
  change: change.change,
  basis: change.basis,
  addresses: list(z.string()).describe('Before and after.'),
  fields: list(
    z.object({
      name: z.string(),
      before: z.string().describe('Text or JSON; -: absent.'),
      after: z.string().describe('Text or JSON; -: absent.'),
    }),
  ).describe('Fields of a changed NIC that differ.'),
  config: z.string().describe('OpenstackConfig, as namespace/name.'),
  generation: z.int().describe('Generation of the OpenstackConfig.'),
});

/** `history`: who changed which NIC when. */
export const historyAnswer = z.object({
  ...screenFields,
  items: list(shownChange).describe('Newest first; at most 400.'),
  oldest: time('Oldest change in reach').optional(),
  continue: z.string().optional().describe('Token of the next page; absent: last page.'),
});
