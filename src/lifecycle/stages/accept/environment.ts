import type { EnvironmentVariable } from '../../../api/multinicoperator.ts';
import type { Problem } from '../../model/accepted.ts';
import { unusable, unusableSecret } from './checked.ts';

const legalName = /^[-._a-zA-Z][-._a-zA-Z0-9]*$/;

/** Returns problems in the operator's environment variables; values are secret and not shown. */
export function environmentProblems(
  env: readonly EnvironmentVariable[],
  field: string,
  isDatabaseOurs: boolean,
): Problem[] {
  const names = env.map(({ name }) => name ?? '');
  return env.flatMap((variable, at) => {
    const here = `${field}[${at}]`;
    const name = names[at] ?? '';
    if (!legalName.test(name)) {
      return [unusable(`${here}.name`, name, 'is not a name; write letters, digits, _, - and .')];
    }
    if (names.indexOf(name) !== at) {
      return [unusable(`${here}.name`, name, 'is a duplicate; remove one of them')];
    }
    return [
      ...reservedProblems(`${here}.name`, name, isDatabaseOurs),
      ...sourceProblems(variable, here, name),
    ];
  });
}

/** Returns problems for variables set by other fields. */
function reservedProblems(field: string, name: string, isDatabaseOurs: boolean): Problem[] {
  if (name === 'HEALTH_ADDR') {
    return [unusable(field, name, 'is set by spec.controller.healthProbe.port; use that field')];
  }
  if (!name.startsWith('DB_') || !isDatabaseOurs) return [];
  const next =
    'remove it to use the built-in database, or set spec.database.enabled to false to use an external one';
  return [unusable(field, name, `contradicts spec.database.enabled true; ${next}`)];
}

function sourceProblems(
  { value, valueFrom }: EnvironmentVariable,
  field: string,
  name: string,
): Problem[] {
  if (valueFrom === undefined) return [];
  if (value !== undefined && value !== '') {
    return [unusableSecret(field, `(${name}) has both value and valueFrom; remove one of them`)];
  }
  const { secretKeyRef, configMapKeyRef } = valueFrom;
  const present = Object.entries({ secretKeyRef, configMapKeyRef }).filter(([, one]) => one);
  const [only] = present;
  if (only === undefined || present.length > 1) {
    const message = `(${name}) has ${only ? 'two sources' : 'no supported source'}; set secretKeyRef or configMapKeyRef`;
    return [unusableSecret(`${field}.valueFrom`, message)];
  }
  const [kind, reference] = only;
  const missing = (['name', 'key'] as const).filter((key) => !reference?.[key]);
  return missing.map((key) =>
    unusableSecret(`${field}.valueFrom.${kind}.${key}`, `(${name}) is missing; set it`),
  );
}
