import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { missingOf } from '../../explain/conclusion.ts';
import { valueOf } from '../../explain/subject.ts';
import { ofMessage, same } from '../../explain/wording.ts';
import type { Session } from '../../session/access/session.ts';
import { readParts } from '../../session/facts/management-facts.ts';
import {
  type MultiNicOperator,
  readMultiNicOperators,
} from '../../session/facts/operator-objects.ts';
import { shownConditions } from './shown-conditions.ts';
import { shownPart } from './shown-parts.ts';
import { gapsIn } from './shown-sources.ts';

type ShownOperator = ScreenAnswer<'operator'>['operators'][number];

/** Default of spec.database.backup.schedule. */
const usualSchedule = '0 3 * * *';

/** Reads MultiNicOperators and the parts of the management cluster. */
export async function readOperatorScreen(session: Session): Promise<ScreenAnswer<'operator'>> {
  const at = session.now().toISOString();
  const [operators, parts] = await Promise.all([
    readMultiNicOperators(session),
    readParts(session),
  ]);
  const { health = [], versions = [] } = valueOf(parts) ?? {};
  return {
    at,
    ...gapsIn(
      [operators, parts].flatMap((fact) => missingOf(fact)),
      session.options,
    ),
    operators: (valueOf(operators) ?? []).map(shownOperator),
    parts: health.map((each) => shownPart(each, versions)),
  };
}

function shownOperator({ metadata, spec, status }: MultiNicOperator): ShownOperator {
  const { namespace = '', name, generation } = metadata;
  const { phase = '', conditions = [] } = status;
  return {
    namespace,
    name,
    phase,
    text: phaseText(status),
    conditions: shownConditions(conditions, generation),
    controller: status.controllerStatus,
    ...shownDatabase(status),
    backupSchedule: backupSchedule(spec),
    protection: status.protectionStatus,
    trigger: triggerOf(spec),
  };
}

function phaseText({ message, conditions = [] }: MultiNicOperator['status']) {
  const ready = conditions.find(({ type }) => type === 'Ready');
  return message === undefined ? same('') : ofMessage(ready?.reason ?? '', message);
}

function shownDatabase({ databaseStatus }: MultiNicOperator['status']) {
  if (databaseStatus === undefined) return {};
  const { phase, readyReplicas, version, operation, lastBackup, lastRestore } = databaseStatus;
  return { database: { phase, readyReplicas, version }, operation, lastBackup, lastRestore };
}

function backupSchedule({ database }: MultiNicOperator['spec']): string | undefined {
  if (database?.enabled !== true) return undefined;
  return database.backup?.schedule ?? usualSchedule;
}

function triggerOf({ reconcileTrigger }: MultiNicOperator['spec']): ShownOperator['trigger'] {
  if (reconcileTrigger === undefined) return undefined;
  const { mode = 'immediate', interval, schedule, timezone } = reconcileTrigger;
  return { mode, interval, schedule, timezone };
}
