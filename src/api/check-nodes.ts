import * as z from 'zod';
import { checkRequest } from './node-configs-http.ts';

/** Maximum number of nodes per request. */
const mostCheckedNodes = 50;

/** JSON in the annotation multinic.io/check-nodes. */
export const checkNodesRequest = z.strictObject({
  id: checkRequest.shape.id.describe('Name of the request; a new one checks the nodes.'),
  nodes: z
    .array(z.string().min(1).max(253))
    .min(1)
    .max(mostCheckedNodes)
    .describe('Names of nodes that the OpenstackConfig delivers.'),
  heal: checkRequest.shape.heal.describe('true: also apply what differs, once (default false).'),
});

export type CheckNodesRequest = z.infer<typeof checkNodesRequest>;
