import { isList, isObject, type Json } from '../objects/json.ts';
import { allowsMember, memberSchema, type Schema } from './schema.ts';

/** Drops the fields that a structural schema does not list, as the real server does on every write and read. */
export function prune<T extends Json>(value: T, schema: Schema): T {
  return pruneAny(value, schema) as T;
}

function pruneAny(value: Json, schema: Schema): Json {
  if (isList(value)) {
    const items = schema.items;
    return items ? value.map((item) => pruneAny(item, items)) : value;
  }
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => allowsMember(schema, key));
  return Object.fromEntries(
    kept.map(([key, member]) => {
      const known = memberSchema(schema, key);
      return [key, known ? pruneAny(member, known) : member];
    }),
  );
}

/** Returns the paths of fields that `prune` drops, such as `spec.interfaces[0].nmae`. */
export function unknownFields(value: Json, schema: Schema, path = ''): readonly string[] {
  if (isList(value)) {
    const { items } = schema;
    return items ? value.flatMap((item, at) => unknownFields(item, items, `${path}[${at}]`)) : [];
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const at = path === '' ? key : `${path}.${key}`;
    if (!allowsMember(schema, key)) return [at];
    const known = memberSchema(schema, key);
    return known ? unknownFields(member, known, at) : [];
  });
}
