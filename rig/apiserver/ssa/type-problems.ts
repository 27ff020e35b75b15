import { isList, isObject, type Json } from '../objects/json.ts';
import type { Schema } from '../schema/schema.ts';
import { pathText } from './field-set.ts';
import { childrenOf, isUndeclared, shapeOf } from './shape.ts';

/** Why a configuration cannot be applied: fields that the schema does not declare, entries that come twice. */
export function typeProblems(
  value: Json,
  schema: Schema | undefined,
  path: readonly string[] = [],
): readonly string[] {
  const here = [...undeclared(value, schema, path), ...repeated(value, schema, path)];
  if (isList(value) && shapeOf(value, schema) === 'leaf') return here;
  const below = [...childrenOf(value, schema).values()].flatMap((child) =>
    typeProblems(child.value, child.schema, [...path, child.element]),
  );
  return [...here, ...below];
}

function undeclared(
  value: Json,
  schema: Schema | undefined,
  path: readonly string[],
): readonly string[] {
  if (!isObject(value)) return [];
  return Object.keys(value)
    .filter((key) => isUndeclared(schema, key))
    .map((key) => `${pathText([...path, `f:${key}`])}: field not declared in schema`);
}

function repeated(
  value: Json,
  schema: Schema | undefined,
  path: readonly string[],
): readonly string[] {
  if (!isList(value) || shapeOf(value, schema) === 'leaf') return [];
  const distinct = childrenOf(value, schema);
  if (distinct.size === value.length) return [];
  return [`${pathText(path)}: duplicate entries`];
}
