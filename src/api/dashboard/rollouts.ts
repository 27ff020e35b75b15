import * as z from 'zod';
import { list, screenFields, time, words } from './screen.ts';

/** Nodes by progress. */
const progress = {
  done: z.int(),
  running: z.int(),
  failed: z.int(),
  waiting: z.int().describe('Nodes that are left unchanged until their step.'),
};

/** Rollout step: first node, wave of 10 %, rest. */
const rolloutStep = z.object({
  name: z.enum(['canary', 'wave', 'rest']),
  nodes: z.int().describe('Nodes of the step.'),
  done: z.int().describe('Nodes of the step that were changed with success.'),
});

/** A change for few nodes first. */
const shownRollout = z.object({
  key: z.string(),
  providerId: z.string(),
  config: z.string().optional().describe('OpenstackConfig; absent: another source, or unknown.'),
  what: words('The change, such as a new generation or agent image'),
  step: z
    .enum(['canary', 'wave', 'rest', 'stopped', 'done', 'unknown'])
    .describe('unknown: only the waiting nodes are known, without `--business-context`.'),
  total: z.int().describe('Nodes of the rollout that are known.'),
  ...progress,
  steps: list(rolloutStep).describe('Empty: unknown.'),
  message: words('What the waiting nodes wait for; empty: nothing waits'),
  nodes: list(
    z.object({
      nodeName: z.string(),
      state: z.enum(['done', 'running', 'failed', 'waiting', 'stopped']),
      text: words('Message of the node; empty: none'),
      at: time('Start of the last run').optional(),
    }),
  ).describe('Failed, running and waiting nodes, then changed ones; at most 100.'),
});

/** Changes in the last plan, for the controller to apply in steps. */
const plannedRollout = z.object({
  config: z.string().describe('As namespace/name.'),
  nodes: z.int(),
  what: words('The change'),
  steps: list(z.int()).describe('Nodes that each step changes.'),
});

/** `rollouts`: waves, first nodes and waiting nodes. */
export const rolloutsAnswer = z.object({
  ...screenFields,
  rollouts: list(shownRollout).describe('Stopped and unfinished ones first; at most 50.'),
  planned: list(plannedRollout).describe('At most 50.'),
});
