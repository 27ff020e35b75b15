import * as z from 'zod';
import { blockedNic, planView } from '../read-http.ts';
import { list, screenFields, shownCondition, time, words } from './screen.ts';

/** An OpenstackConfig as a row. */
const configRow = z.object({
  namespace: z.string(),
  name: z.string(),
  cloud: z.string().describe('`key` in `clouds`.'),
  providerId: z.string().optional().describe("Absent: the operator's default, or a legacy Viola."),
  ready: z.enum(['True', 'False', 'Unknown']),
  reason: z.string().describe('Key of the table of reasons; empty: not synced yet.'),
  text: words('Message of Ready, with the meaning of the reason'),
  conditions: list(shownCondition),
  mode: z.enum(['Apply', 'Observe']),
  deletionPolicy: z.enum(['Ask', 'Delete', 'Retain']),
  paused: z.string().optional().describe('Value of multinic.io/paused; absent: not paused.'),
  isDeleting: z.boolean(),
  trigger: z
    .string()
    .optional()
    .describe('immediate, scheduled, manual or webhook; absent: unknown.'),
  servers: z.int().optional(),
  nodes: z.int().optional(),
  nics: z.string().optional().describe('Configured of planned NICs, such as 2/3.'),
  unusedPorts: z.int().optional(),
  lastSyncAt: time('End of the last sync of all servers').optional(),
  lastAttemptAt: time('End of the last attempt, also a failed one').optional(),
  nextSyncAt: time('Next attempt without a new cause').optional(),
  removals: z
    .object({
      lastHour: z.int().describe('NICs removed in the last hour that count in the budget.'),
      allowed: z.int().optional().describe('NICs per hour without consent; absent: unknown.'),
      waiting: z.boolean().describe('True: removals wait for consent.'),
      waitingSince: time('First sync with the waiting removals').optional(),
      consentUntil: time('End of a consent that still applies').optional(),
    })
    .describe('Use of the budget of this OpenstackConfig.'),
});

/** A cloud as named by OpenstackConfigs. */
const cloudRow = z.object({
  key: z.string(),
  access: z.enum(['contrabass', 'direct', 'secret']).describe('How credentials are found.'),
  name: z.string().describe('Contrabass id, Keystone URL, or Secret as namespace/name.'),
  project: z.string().optional().describe('OpenStack project; absent: named elsewhere.'),
  state: z
    .enum(['ok', 'failing', 'unknown'])
    .describe('failing: the last sync of an OpenstackConfig had no answer.'),
  reason: z.string().optional().describe('Key of the table of reasons; absent: not failing.'),
  text: words('Message of the failure').optional(),
  configs: list(z.string()).describe('As namespace/name.'),
});

/** `configs`: OpenstackConfigs and their clouds. */
export const configsAnswer = z.object({
  ...screenFields,
  configs: list(configRow).describe('By namespace and name; at most 200.'),
  count: z.int().describe('All OpenstackConfigs.'),
  clouds: list(cloudRow),
});

/** `config`: an OpenstackConfig with waiting removals, budgets, and the nodes and unused ports for attention. */
export const configAnswer = z.object({
  ...screenFields,
  config: configRow,
  cloud: cloudRow,
  subnets: list(z.string()).describe('Ids, or the name.'),
  servers: z.object({
    names: list(z.string()).describe('Names and ids; at most 100.'),
    count: z.int().describe('All names and ids.'),
    metadata: z.record(z.string(), z.string()),
    tags: list(z.string()),
  }),
  plan: z
    .object({
      hash: planView.shape.hash,
      at: time('When the plan was calculated'),
      budgets: planView.shape.budgets,
      problems: planView.shape.problems.readonly(),
      heldNics: list(z.object({ nodeName: z.string(), ...blockedNic.shape })).describe(
        'NICs whose removal waits for consent; at most 100.',
      ),
      heldRemovals: z.int().describe('All NICs whose removal waits.'),
      unconfirmed: z.int().describe('NICs that stay without evidence or consent.'),
    })
    .optional()
    .describe('Plan of the last sync; absent: not planned since the operator leads, or unread.'),
  attention: list(
    z.object({
      nodeName: z.string(),
      state: z.string(),
      reason: z.string(),
      text: words('Problem of the node and what to do'),
    }),
  ).describe('Nodes that need attention, at most 20.'),
  unusedPorts: list(
    z.object({
      portId: z.string(),
      address: z.string().optional(),
      reason: z.string(),
      text: words('Why the port is not a NIC'),
    }),
  ).describe('At most 20.'),
});
