import type * as z from 'zod';
import { multiNicOperatorSpec } from '../../../api/multinicoperator.ts';
import type { Accepted, Checked, Problem } from '../../model/accepted.ts';
import type { OperatorObject } from '../../model/multinicoperator.ts';
import { checked, unusable } from './checked.ts';
import { acceptController } from './controller.ts';
import { acceptCredentials } from './credentials.ts';
import { acceptBackup, acceptDatabase } from './database.ts';
import { acceptProtection, readBreakGlass } from './protection.ts';
import { fieldOf, isObject, type Reading, read } from './reading.ts';
import { acceptTriggers } from './triggers.ts';

const sections = multiNicOperatorSpec.shape;
const databaseFields = sections.database.unwrap().shape;
const serverFields = sections.database.unwrap().pick({
  image: true,
  storageSize: true,
  resources: true,
  service: true,
});

/** Checks a MultiNicOperator stage by stage; reports each unusable field with its value and the fix. */
export function accept(operator: OperatorObject, now: Date): Accepted {
  const { spec = {} } = operator;
  if (spec !== null && !isObject(spec)) return unreadable(spec);
  const breakGlass = readBreakGlass(operator, now);
  const enabled = enabledIn(spec);
  const database = databaseStages(spec, enabled);
  return {
    ...database,
    controller: controllerStage(spec, enabled),
    triggers: from(section(spec, 'reconcileTrigger'), (value) => acceptTriggers(value)),
    protection: from(section(spec, 'protection'), (value = {}) =>
      acceptProtection(value, breakGlass.until),
    ),
    ignored: breakGlass.problems,
  };
}

function unreadable(spec: unknown): Accepted {
  const problems = [unusable('spec', spec, 'is not an object; write its fields')] as const;
  const stage = { problems } as const;
  return {
    credentials: stage,
    database: stage,
    backup: stage,
    controller: stage,
    triggers: stage,
    protection: stage,
  };
}

function section<K extends keyof typeof sections>(spec: unknown, name: K) {
  const schema = sections[name] as unknown as z.ZodType<z.infer<(typeof sections)[K]>>;
  return read(schema, fieldOf(spec, name), `spec.${name}`);
}

/** True if MariaDB is managed by lifecycle: all stages but triggers and protection depend on this field. */
function enabledIn(spec: unknown): Reading<boolean> {
  const database = fieldOf(spec, 'database') ?? {};
  if (!isObject(database)) {
    const what = 'is not an object; write its fields, or leave it out';
    return { problems: [unusable('spec.database', database, what)] };
  }
  const { value, problems } = read(
    databaseFields.enabled,
    database['enabled'],
    'spec.database.enabled',
  );
  return problems.length > 0 ? { problems } : { value: value ?? false, problems: [] };
}

type DatabaseStages = Pick<Accepted, 'credentials' | 'database' | 'backup'>;

/** Returns the database stages; a disabled database has no fields to check. */
function databaseStages(spec: unknown, enabled: Reading<boolean>): DatabaseStages {
  const { value: isOurs, problems } = enabled;
  if (isOurs !== true) {
    const none = checked(undefined, problems);
    return { credentials: none, database: none, backup: none };
  }
  const raw = fieldOf(spec, 'database');
  const credentials = read(
    databaseFields.credentials,
    fieldOf(raw, 'credentials'),
    'spec.database.credentials',
  );
  const backup = read(databaseFields.backup, fieldOf(raw, 'backup'), 'spec.database.backup');
  const database = from(read(serverFields, raw, 'spec.database'), (value) =>
    acceptDatabase(value, 'spec.database'),
  );
  const own = from(backup, (value = {}) => acceptBackup(value, 'spec.database.backup'));
  return {
    credentials: from(credentials, (value = {}) =>
      acceptCredentials(value, 'spec.database.credentials'),
    ),
    database,
    // Backups use the database's image, and a claim with the database's size.
    backup: database.problems
      ? checked(undefined, [...database.problems, ...problemsOf(own)])
      : own,
  };
}

function controllerStage(spec: unknown, enabled: Reading<boolean>): Accepted['controller'] {
  const controller = section(spec, 'controller');
  const openstack = section(spec, 'openstack');
  const [first, ...rest] = [...enabled.problems, ...controller.problems, ...openstack.problems];
  if (first !== undefined) return { problems: [first, ...rest] };
  return acceptController({
    controller: controller.value ?? {},
    openstack: openstack.value ?? {},
    isDatabaseOurs: enabled.value === true,
  });
}

function from<T, Wanted>(reading: Reading<T>, use: (value: T) => Checked<Wanted>): Checked<Wanted> {
  const [first, ...rest] = reading.problems;
  if (first !== undefined) return { problems: [first, ...rest] };
  return use(reading.value as T);
}

function problemsOf(stage: Checked<unknown>): readonly Problem[] {
  return stage.problems ?? [];
}
