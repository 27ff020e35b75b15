import { isList, isObject, type Json } from '../objects/json.ts';
import { memberSchema, type Schema } from '../schema/schema.ts';
import { pathText } from './field-set.ts';
import { childrenOf, elementOf, isUndeclared, shapeOf } from './shape.ts';

/** Why a configuration cannot be applied: undeclared fields, values of another type, entries without or with repeated keys. */
export function typeProblems(
  value: Json,
  schema: Schema | undefined,
  path: readonly string[] = [],
): readonly string[] {
  const mismatch = value === null ? undefined : typeMismatch(value, schema);
  if (mismatch) return [`${pathText(path)}: ${mismatch}`];
  if (isList(value)) return listProblems(value, schema, path);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const below = [...path, `f:${key}`];
    return isUndeclared(schema, key)
      ? [`${pathText(below)}: field not declared in schema`]
      : typeProblems(member, schema && memberSchema(schema, key), below);
  });
}

function listProblems(
  list: readonly Json[],
  schema: Schema | undefined,
  path: readonly string[],
): readonly string[] {
  if (shapeOf(list, schema) === 'leaf') return [];
  const keyless = list.findIndex((item) => elementOf(item, schema) === 'k:{}');
  if (keyless >= 0) {
    const keys = JSON.stringify(schema?.['x-kubernetes-list-map-keys'] ?? []);
    const what = `associative list with keys has an element that omits all key fields ${keys}`;
    return [
      `${pathText(path)}: element ${keyless}: ${what} (and doesn't have default values for any key fields)`,
    ];
  }
  const children = childrenOf(list, schema);
  const twice = list.find(
    (item, i) => list.findIndex((one) => elementOf(one, schema) === elementOf(item, schema)) < i,
  );
  if (twice !== undefined) {
    const key = pathText([elementOf(twice, schema)]);
    return [`${pathText(path)}: duplicate entries for key ${key}`];
  }
  return [...children.values()].flatMap((child) =>
    typeProblems(child.value, child.schema, [...path, child.element]),
  );
}

interface Expectation {
  readonly name: string;
  readonly fits: (value: Json) => boolean;
  readonly got: (value: Json) => string;
}

const list: Expectation = { name: 'list', fits: isList, got: (value) => `&{${text(value)}}` };
const numeric: Expectation = {
  name: 'numeric (int or float)',
  fits: (value) => typeof value === 'number',
  got: (value) => typeof value,
};
const expectations: Readonly<Record<string, Expectation>> = {
  array: list,
  object: { ...list, name: 'map', fits: isObject },
  integer: numeric,
  number: numeric,
  string: { ...list, name: 'string', fits: (value) => typeof value === 'string' },
  boolean: { ...list, name: 'boolean', fits: (value) => typeof value === 'boolean' },
};

function typeMismatch(value: Json, schema: Schema | undefined): string | undefined {
  const wanted = expectations[schema?.type ?? ''];
  if (!wanted || wanted.fits(value)) return undefined;
  return `expected ${wanted.name}, got ${wanted.got(value)}`;
}

function text(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
