import type { EnvironmentVariable } from '../../../api/multinicoperator.ts';
import { managedObjects } from '../../../api/names.ts';
import type { ControllerWanted } from '../../model/accepted.ts';

/** An `env` entry of a container, with any source. */
export interface EnvEntry {
  readonly name: string;
  readonly value?: string | undefined;
  readonly valueFrom?: unknown;
}

/** TLS settings for MariaDB; the built-in server has no TLS. */
const tlsToDatabase = new Set(['DB_TLS', 'DB_CA_FILE']);

export interface EnvironmentOptions {
  readonly namespace: string;
  /** Port of Service mariadb, used with the built-in database. */
  readonly databasePort: number;
}

/**
 * Returns the operator's environment: the chart's variables, overridden by the MultiNicOperator's fields, with its own
 * `env` last.
 */
export function environmentOf(
  base: readonly EnvEntry[],
  wanted: ControllerWanted,
  options: EnvironmentOptions,
): EnvEntry[] {
  const isBuiltIn = wanted.inventory === 'built-in';
  const chart = isBuiltIn ? base.filter(({ name }) => !tlsToDatabase.has(name)) : base;
  return overridden([
    ...chart,
    ...(wanted.healthPort === undefined
      ? []
      : [{ name: 'HEALTH_ADDR', value: `:${wanted.healthPort}` }]),
    ...Object.entries(wanted.openstackDefaults).map(([name, value]) => ({ name, value })),
    ...(isBuiltIn ? databaseEntries(options) : []),
    ...wanted.env.flatMap(entryOf),
  ]);
}

/** Keeps the position of a name's first entry, and the content of the last. */
function overridden(entries: readonly EnvEntry[]): EnvEntry[] {
  return [...new Map(entries.map((entry) => [entry.name, entry])).values()];
}

function databaseEntries({ namespace, databasePort }: EnvironmentOptions): EnvEntry[] {
  return [
    { name: 'DB_HOST', value: `${managedObjects.database}.${namespace}.svc` },
    { name: 'DB_PORT', value: String(databasePort) },
    fromSecret('DB_NAME', 'database'),
    fromSecret('DB_USER', 'user'),
    fromSecret('DB_PASSWORD', 'password'),
  ];
}

function fromSecret(name: string, key: string): EnvEntry {
  return { name, valueFrom: { secretKeyRef: { name: managedObjects.credentials, key } } };
}

function entryOf({ name, value, valueFrom }: EnvironmentVariable): EnvEntry[] {
  if (!name) return [];
  return [valueFrom === undefined ? { name, value: value ?? '' } : { name, valueFrom }];
}
