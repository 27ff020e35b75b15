import { isList, isObject, type Json, type JsonObject } from '../objects/json.ts';
import { memberSchema, type Schema } from './schema.ts';

/** Fills in the defaults of a structural schema; an absent parent stays absent unless it has a default of its own. */
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
    if (member === null && yieldsToDefault(known)) continue;
    result[key] = known ? defaulted(member, known) : member;
  }
  for (const [key, known] of Object.entries(schema.properties ?? {})) {
    if (known.default === undefined || Object.hasOwn(result, key)) continue;
    result[key] = defaulted(known.default, known);
  }
  return result;
}

/** A null where the schema wants none counts as absent if there is a default to put there. */
function yieldsToDefault(schema: Schema | undefined): boolean {
  return schema?.default !== undefined && schema.nullable !== true;
}
