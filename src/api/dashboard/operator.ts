import * as z from 'zod';
import { multiNicOperatorStatus } from '../multinicoperator.ts';
import { shownPart } from './fleet.ts';
import { list, screenFields, shownCondition, words } from './screen.ts';

const database = multiNicOperatorStatus.shape.databaseStatus.unwrap();

/** A MultiNicOperator. */
const shownOperator = z.object({
  namespace: z.string(),
  name: z.string(),
  phase: z.string().describe('Pending, Running, Degraded or Error; empty: no status yet.'),
  text: words('Cause of the phase and action'),
  conditions: list(shownCondition),
  controller: multiNicOperatorStatus.shape.controllerStatus,
  database: database.pick({ phase: true, readyReplicas: true, version: true }).optional(),
  operation: database.shape.operation.describe('Operation in progress; absent: none.'),
  lastBackup: database.shape.lastBackup,
  lastRestore: database.shape.lastRestore,
  backupSchedule: z
    .string()
    .optional()
    .describe('Five cron fields; empty: no backups. Absent: no database of ours.'),
  protection: multiNicOperatorStatus.shape.protectionStatus,
  trigger: z
    .object({
      mode: z.string(),
      interval: z.string().optional(),
      schedule: z.string().optional(),
      timezone: z.string().optional(),
    })
    .optional()
    .describe('When OpenstackConfigs are synced; absent: immediate.'),
});

/** `operator`: MultiNicOperators and the parts that they install. */
export const operatorAnswer = z.object({
  ...screenFields,
  operators: list(shownOperator).describe('Empty: installed by the chart alone, or unread.'),
  parts: list(shownPart),
});
