import * as z from 'zod';
import { stepNames } from '../step-names.ts';
import { nodeNic } from './node.ts';
import { list, nextStep, screenFields, time, words } from './screen.ts';

/** A step in `why`, from Neutron to the boot files. */
const shownStep = z.object({
  name: z.enum(stepNames).describe('Key of stepTitles.'),
  result: z
    .enum(['ok', 'info', 'warn', 'fail', 'skipped', 'notReached'])
    .describe('info: not a NIC, as intended. notReached: an earlier step failed.'),
  reason: z.string().optional().describe('Key of the table of reasons; absent: ok, notReached.'),
  evidence: words('Facts with values; for skipped: the missing fact'),
  next: nextStep.optional(),
});

/** Why a port is a NIC or not. */
const shownExplanation = z.object({
  headline: words('Port and answer in one sentence'),
  conclusion: z.enum(['good', 'wrong', 'incomplete']),
  steps: list(shownStep).describe('All ten steps, in order.'),
  answer: z.string().optional().describe('Name of the first failed step; absent: none failed.'),
});

/** Differences by place, as the last check or agent run of the node found them. */
const onNode = {
  isSame: z.boolean().optional().describe('Equal to what was applied; absent: unknown.'),
  changes: list(z.string()).describe("What an apply would do, in the agent's words."),
  found: list(words('Configuration by other programs')),
};

/** Desired state beside kernel and boot files. Agents report differences, no equal values. */
const nicState = z.object({
  desired: list(
    z.object({
      field: z
        .string()
        .describe('name, macAddress, addresses, mtu, gateway, routes, routing or subnets.'),
      value: z.string(),
    }),
  ),
  kernel: z.object({
    ...onNode,
    carrier: z.boolean().optional().describe('Absent: unknown.'),
    checkedAt: time('Last check of the NIC').optional(),
  }),
  bootFiles: z.object({
    ...onNode,
    backend: z.string().optional().describe('Network manager; absent: unknown.'),
    warnings: list(z.string()).describe("The agent's warnings about the next boot."),
  }),
  isComplete: z.boolean().describe('False: the agent shortened the list of changes.'),
});

const timelineKinds = [
  'portCreated',
  'added',
  'changed',
  'portReplaced',
  'removed',
  'delivered',
  'job',
  'event',
  'state',
  'checked',
] as const;

/** An entry in a NIC's timeline. */
const timelineEntry = z.object({
  at: time('When it happened'),
  kind: z.enum(timelineKinds),
  reason: z.string().optional().describe('Key of the table of reasons; absent: none.'),
  text: words('What happened'),
});

/** `nic` and `port`: why, state and timeline for a NIC or port. */
export const nicAnswer = z.object({
  ...screenFields,
  providerId: z.string().optional().describe('Absent: no node has the port.'),
  nodeName: z.string().optional(),
  portId: z.string().optional().describe('Absent: a NIC of the legacy operator.'),
  config: z.string().optional().describe('OpenstackConfig, as namespace/name; absent: none.'),
  row: nodeNic.optional().describe('As on the screen of the node; absent: no node, or unread.'),
  why: shownExplanation,
  state: nicState.optional().describe('Absent: the port is not a NIC, or the node is unread.'),
  timeline: list(timelineEntry).describe('Newest first; at most 100.'),
  timelineSince: time('Start of the history').optional(),
});
