import * as z from 'zod';
import { clusterView } from '../read-http.ts';
import {
  findingCounts,
  findingGroup,
  list,
  nextStep,
  screenFields,
  time,
  words,
} from './screen.ts';

const partName = z.enum(['operator', 'viola', 'inventory', 'controller', 'lifecycle']);

/** A part in a cluster. */
export const shownPart = z.object({
  part: partName,
  providerId: z.string().optional().describe('Absent: the management cluster.'),
  namespace: z.string().optional().describe('Absent: no Deployment, such as `make run`.'),
  result: z.enum(['ok', 'warn', 'fail']),
  problem: words('What is wrong').optional().describe('Absent: healthy.'),
  readyReplicas: z.int(),
  replicas: z.int(),
  leader: z.string().optional().describe('Leading Pod of the operator; absent: none.'),
  version: z.string().optional().describe('Absent: unknown.'),
});

/** The operator's own answer. */
const inventoryState = z.object({ version: z.string(), milliseconds: z.int() });

/** A connection of this process. */
const connection = z.object({
  source: z.enum(['management cluster', 'operator', 'business cluster']),
  providerId: z.string().optional(),
  place: z.string().describe('URL, kubeconfig, context or port-forward.'),
  phase: z.enum(['unused', 'connecting', 'open', 'lost']),
  since: time('Start of the phase').optional(),
  why: words('Reason for a loss').optional(),
  next: words('What the user does after a loss').optional(),
});

/** A business cluster, with the controller if the facts of the cluster were read. */
const fleetCluster = clusterView.extend({ controller: shownPart.optional() });

/** `fleet`: findings by cause, business clusters, health of the parts. */
export const fleetAnswer = z.object({
  ...screenFields,
  counts: findingCounts,
  findings: list(findingGroup).describe('Errors first; without information.'),
  clusters: list(fleetCluster),
  clusterCount: z.int().describe('All business clusters; `clusters` has at most 200.'),
  parts: list(shownPart).describe('Parts of the management cluster.'),
  inventory: inventoryState.optional().describe('Absent: the operator does not answer.'),
  configs: z.object({ all: z.int(), ready: z.int(), paused: z.int() }),
  lastSyncAt: time('End of the latest sync of any OpenstackConfig').optional(),
  connections: list(connection),
  empty: words('What is missing before the first node')
    .optional()
    .describe('Absent: at least one OpenstackConfig exists, or they are unread.'),
});

/** `doctor`: all sections from the examination. */
export const doctorAnswer = z.object({
  ...screenFields,
  counts: findingCounts,
  sections: list(
    z.object({
      section: z.string().describe('Key of sectionTitles.'),
      conclusion: z
        .enum(['good', 'wrong', 'incomplete'])
        .optional()
        .describe('Absent: nothing to examine.'),
      checks: z.int().describe('Executed checks.'),
      summary: words('Sentence for a section without findings'),
      findings: list(findingGroup).describe('Errors first, then warnings and information.'),
    }),
  ),
  seconds: z.number().describe('Time of the examination.'),
  bundle: nextStep.describe('How the user writes a support bundle.'),
});
