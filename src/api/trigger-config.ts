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
      'What starts a sync of an OpenstackConfig. immediate: changes and polling; scheduled: interval or schedule; manual: users only; webhook: calls of the trigger endpoint.',
    ),
  interval: z
    .string()
    .optional()
    .describe(
      'Mode scheduled: time between syncs, such as 15m; at least 1m. Default without a schedule: 5m.',
    ),
  schedule: z
    .string()
    .optional()
    .describe('Mode scheduled: five cron fields instead of an interval, such as "0 3 * * *".'),
  timezone: z
    .string()
    .optional()
    .describe('Time zone of the schedule, such as Asia/Seoul. Default UTC.'),
  immediateOnCRChange: z
    .boolean()
    .optional()
    .describe(
      'Whether a new or edited OpenstackConfig is synced at once. Always in mode immediate; the default is true in mode manual, else false.',
    ),
});

export type TriggerConfig = z.infer<typeof triggerConfig>;
