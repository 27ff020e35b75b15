import * as z from 'zod';

/** ConfigMap in the operator's namespace with the sync triggers, and its key. */
export const triggerConfigMap = {
  name: 'multinic-operator-triggers',
  key: 'trigger.yaml',
} as const;

export const triggerModes = ['immediate', 'scheduled', 'manual', 'webhook'] as const;
export type TriggerMode = (typeof triggerModes)[number];

/**
 * Sync triggers for OpenstackConfigs: `spec.reconcileTrigger` in a MultiNicOperator, and the content of
 * `trigger.yaml`.
 */
export const triggerConfig = z.strictObject({
  mode: z
    .enum(triggerModes)
    .default('immediate')
    .describe(
      'What starts a look at an OpenstackConfig. immediate: all that happens, and time; scheduled: interval or schedule; manual: nothing but people; webhook: calls of the trigger endpoint.',
    ),
  interval: z
    .string()
    .optional()
    .describe(
      'scheduled: every so often, such as 15m; at least 1m. Default 5m without a schedule.',
    ),
  schedule: z
    .string()
    .optional()
    .describe('scheduled: five fields of cron instead of an interval, such as "0 3 * * *".'),
  timezone: z.string().optional().describe('Of the schedule, such as Asia/Seoul. Default UTC.'),
  immediateOnCRChange: z
    .boolean()
    .optional()
    .describe(
      'Whether a new or edited OpenstackConfig is looked at at once. Always in mode immediate; by default in manual, and not in the others.',
    ),
});

export type TriggerConfig = z.infer<typeof triggerConfig>;
