import { isList, isObject, type Json, type JsonObject } from '../objects/json.ts';
import { keepsUnknown, memberSchema, type Schema } from '../schema/schema.ts';

/**
 * How a value takes part in a merge: as a whole (`leaf`), member by member (`map`), or as a list whose entries are
 * told apart by value (`set`) or by keys (`keyed`).
 */
export type Shape = 'leaf' | 'map' | 'set' | 'keyed';

/**
 * The merge shape of a value. What no schema describes is deduced from the value as the real server does: objects
 * merge, lists are atomic.
 */
export function shapeOf(value: Json | undefined, schema: Schema | undefined): Shape {
  if (isObject(value)) return schema?.['x-kubernetes-map-type'] === 'atomic' ? 'leaf' : 'map';
  if (!isList(value)) return 'leaf';
  const kind = schema?.['x-kubernetes-list-type'];
  if (kind === 'set') return 'set';
  return kind === 'map' ? 'keyed' : 'leaf';
}

/** One child of a map, set or keyed list: its path element, its value, its schema. */
export interface Child {
  readonly element: string;
  readonly value: Json;
  readonly schema: Schema | undefined;
}

/** The children of a value that is not a leaf, by path element, in order. */
export function childrenOf(
  value: Json | undefined,
  schema: Schema | undefined,
): ReadonlyMap<string, Child> {
  const list = isList(value)
    ? value.map((item) => itemChild(item, schema))
    : Object.entries(isObject(value) ? value : {}).map(([key, member]) => ({
        element: `f:${key}`,
        value: member,
        schema: schema && memberSchema(schema, key),
      }));
  return new Map(list.map((child) => [child.element, child]));
}

function itemChild(item: Json, schema: Schema | undefined): Child {
  const isSet = schema?.['x-kubernetes-list-type'] === 'set';
  return {
    element: elementOf(item, schema),
    value: item,
    schema: isSet ? undefined : schema?.items,
  };
}

/** The path element of an entry of a set or keyed list. */
export function elementOf(item: Json, schema: Schema | undefined): string {
  return schema?.['x-kubernetes-list-type'] === 'set'
    ? `v:${JSON.stringify(item)}`
    : `k:${JSON.stringify(keysOf(item, schema))}`;
}

/** The key fields of a list entry, sorted; an absent one counts with its default. */
function keysOf(item: Json, schema: Schema | undefined): JsonObject {
  const names = schema?.['x-kubernetes-list-map-keys'] ?? [];
  const entries = names.toSorted().flatMap((name): [string, Json][] => {
    const value =
      (isObject(item) ? item[name] : undefined) ?? schema?.items?.properties?.[name]?.default;
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(entries);
}

/** True when a member is named by the schema, false for an entry of a map and for what no schema describes. */
export function isDeclared(schema: Schema | undefined, element: string): boolean {
  return Object.hasOwn(schema?.properties ?? {}, element.slice(2));
}

/** True when the schema has no place for this member, so that an apply of it is refused. */
export function isUndeclared(schema: Schema | undefined, key: string): boolean {
  if (!schema || keepsUnknown(schema) || schema.additionalProperties === true) return false;
  return schema.type === 'object' && memberSchema(schema, key) === undefined;
}
