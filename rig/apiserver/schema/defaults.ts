import { isList, isObject, type Json, type JsonObject } from '../objects/json.ts';
import { memberSchema, type Schema } from './schema.ts';

/**
 * Drops nulls where the schema wants none, then fills in defaults; an absent parent stays absent unless it has a
 * default of its own.
 */
export function withDefaults<T extends Json>(value: T, schema: Schema): T {
  return defaulted(value, schema) as T;
}

function defaulted(value: Json, schema: Schema): Json {
  if (isList(value)) {
    const items = schema.items;
    return items ? value.map((item) => defaulted(item, items)) : value;
  }
  return isObject(value) ? defaultedObject(value, schema) : value;
}

function defaultedObject(object: JsonObject, schema: Schema): JsonObject {
  const result: Record<string, Json> = {};
  for (const [key, member] of Object.entries(object)) {
    const known = memberSchema(schema, key);
    if (member === null && known && known.nullable !== true) continue;
    result[key] = known ? defaulted(member, known) : member;
  }
  for (const [key, known] of Object.entries(schema.properties ?? {})) {
    if (known.default === undefined || Object.hasOwn(result, key)) continue;
    result[key] = defaulted(known.default, known);
  }
  return result;
}
