import * as z from 'zod';
import { nodeView } from '../read-http.ts';
import { findingGroup, list, screenFields, shownCondition, time, words } from './screen.ts';

/** Row kinds. `primary`: a port with an InternalIP from the Node; `other`: a further port without NIC. */
const nicKind = z.enum(['nic', 'unusedPort', 'primary', 'other']);

/** A NIC, or a server's port without NIC; for the picture and the table. */
export const nodeNic = z.object({
  kind: nicKind,
  key: z.string().describe('Name of the NIC, else the port id: unique on the node.'),
  nic: z.string().optional().describe('Name of the NIC; absent: the port is not a NIC.'),
  portId: z.string().optional(),
  network: z.string().optional().describe('`key` in `networks`; absent: unknown.'),
  subnetName: z.string().optional(),
  macAddress: z.string().optional(),
  addresses: list(z.string()).describe('As ip/prefix, or ip of a port that is not a NIC.'),
  mtu: z.int().optional(),
  state: z
    .string()
    .describe('Pending, InProgress, Configured, Failed, Observed or Unknown; Unused: no NIC.'),
  reason: z.string().describe('Key of the table of reasons; empty: none.'),
  text: words('Message, with the meaning of the reason; empty: none'),
  carrier: z.boolean().optional().describe('Carrier at the last agent run; absent: unknown.'),
  portStatus: z.string().optional().describe("Neutron's status, such as DOWN; absent: unknown."),
  adminStateUp: z.boolean().optional().describe('Absent: unknown.'),
  isDrifted: z.boolean().describe('True: differs from what was applied.'),
  changedAt: time('When state or reason last changed').optional(),
  checkedAt: time('When the NIC was last checked on the node').optional(),
});

/** A network with the server's ports. */
const nodeNetwork = z.object({
  key: z.string().describe('Network id, else name.'),
  name: z.string().describe('Name, else id.'),
  isDown: z.boolean().describe('True: a port of the server in the network is DOWN or disabled.'),
});

/** `node`: a node, read through Viola; networks, NICs and Node for the picture. */
export const nodeAnswer = z.object({
  ...screenFields,
  node: nodeView.describe('With `object`, unless Viola did not answer (`isFresh` false).'),
  isFresh: z.boolean().describe('False: as of the last sync.'),
  isPortsRead: z.boolean().describe('False: ports that are not NICs are unknown.'),
  networks: list(nodeNetwork).describe('In the order of their first NIC.'),
  nics: list(nodeNic).describe('NICs by name, unused ports, primary and further ports.'),
  kubernetesNode: z
    .object({
      name: z.string(),
      isReady: z.boolean(),
      internalIps: list(
        z.object({
          ip: z.string(),
          key: z.string().optional().describe('Row with the address; absent: none, or unread.'),
        }),
      ),
    })
    .optional()
    .describe('Absent: not read, or no Node has the systemUUID of the server.'),
  conditions: list(shownCondition).describe('Empty: no object, or not read.'),
  findings: list(findingGroup).describe('Findings of the last examination about this node.'),
  job: z
    .object({
      name: z.string(),
      attempt: z.int().optional(),
      reason: z.string().optional(),
      message: z.string().optional(),
    })
    .optional()
    .describe('Agent Job that ran last; absent: none, or not read.'),
});
