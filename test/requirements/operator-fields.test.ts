import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { multiNicOperatorSpec } from '../../src/api/multinicoperator.ts';
import { secrets } from '../../src/kube/core-resources.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import type { Resource } from '../../src/kube/resource.ts';
import type { Observed } from '../../src/lifecycle/model/stage.ts';
import { isObject } from '../../src/lifecycle/stages/accept/reading.ts';
import { backup } from '../../src/lifecycle/stages/backup/backup.ts';
import { credentials } from '../../src/lifecycle/stages/credentials/credentials.ts';
import { database } from '../../src/lifecycle/stages/database/database.ts';
import { controller } from '../../src/lifecycle/stages/managed-controller/managed-controller.ts';
import { data, login } from '../../src/lifecycle/stages/managed-controller/testing/scene.ts';
import {
  protection,
  type WebhookAccess,
} from '../../src/lifecycle/stages/protection/protection.ts';
import { triggers } from '../../src/lifecycle/stages/triggers/triggers.ts';
import { observedOf, operatorWith } from '../../src/lifecycle/testing/observed.ts';
import type { StageName } from '../../src/lifecycle/testing/unusable-fields.ts';
import { operatorFields, usualSpec } from './operator-fields.ts';

const access = { authorities: 'PEM', user: 'lifecycle' } as WebhookAccess;

/** Recovery and the handler of the webhook read what was accepted, beside the configuration. */
const stages: Readonly<Record<StageName, (observed: Observed) => object>> = {
  credentials: (observed) => credentials(observed, () => 'generated'),
  database,
  backup,
  controller,
  triggers,
  protection: (observed) => ({
    plan: protection(observed, access),
    accepted: observed.accepted.protection.value,
  }),
};

function observe(spec: object): Observed {
  const base = { metadata: { name: 'multinic-controller-base' }, data };
  const resource = secrets as unknown as Resource<KubeObject>;
  return { ...observedOf(operatorWith(spec), [[resource, login]]), base };
}

const linesOf = (value: unknown): string[] =>
  JSON.stringify(value, (_key, one: unknown) => (one instanceof Set ? [...one] : one), 1).split(
    '\n',
  );

/** Lines of the plan that are there more often than without the value. */
function added(stage: StageName, without: object, spec: object): string[] {
  const left = linesOf(stages[stage](observe(without)));
  return linesOf(stages[stage](observe(spec))).filter((line) => {
    const at = left.indexOf(line);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}

describe('each field of a MultiNicOperator', () => {
  it('has a row, and no row is without its field', () => {
    expect(Object.keys(operatorFields).toSorted()).toEqual(leavesOf(schema()).toSorted());
  });

  it.each(Object.entries(operatorFields))('%s reaches what its stage applies', (field, row) => {
    const { spec, stage, adds, without = usualSpec } = row;
    const whole = merged(without, spec);
    // The value itself is in the row.
    expect(valuesAt(whole, field)).not.toEqual([]);
    expect(observe(whole).accepted[stage].problems).toBeUndefined();
    expect(added(stage, without, whole).filter((line) => adds.test(line))).not.toEqual([]);
  });
});

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

function schema(): Schema {
  return z.toJSONSchema(multiNicOperatorSpec) as Schema;
}

function leavesOf({ properties, items }: Schema, path = ''): string[] {
  if (items) return leavesOf(items, `${path}[]`);
  if (!properties) return [path];
  const below = path === '' ? '' : `${path}.`;
  return Object.entries(properties).flatMap(([key, inner]) => leavesOf(inner, below + key));
}

/** Values of a field: `[]` takes all entries of a list. */
function valuesAt(spec: unknown, field: string): unknown[] {
  return field.split(/\.|(?=\[\])/).reduce<unknown[]>(
    (found, step) =>
      found.flatMap((value) => {
        if (step === '[]') return Array.isArray(value) ? (value as unknown[]) : [];
        const inner = (value as Readonly<Record<string, unknown>>)[step];
        return inner === undefined ? [] : [inner];
      }),
    [spec],
  );
}

function merged(a: object, b: object): object {
  const before = a as Readonly<Record<string, unknown>>;
  return {
    ...a,
    ...Object.fromEntries(
      Object.entries(b).map(([key, value]: [string, unknown]) => {
        const old = before[key];
        return [key, isObject(old) && isObject(value) ? merged(old, value) : value];
      }),
    ),
  };
}
