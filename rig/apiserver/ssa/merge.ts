import { isList, isObject, type Json, type JsonObject } from '../objects/json.ts';
import type { Schema } from '../schema/schema.ts';
import { emptySet, type FieldSet } from './field-set.ts';
import { type Child, childrenOf, shapeOf } from './shape.ts';

/** What an apply makes of the live value: applied members win, everything else stays. */
export function merge(
  live: Json | undefined,
  applied: Json | undefined,
  schema: Schema | undefined,
): Json | undefined {
  if (live === undefined || applied === undefined) return applied ?? live;
  const shape = shapeOf(applied, schema);
  if (shape === 'leaf' || shape !== shapeOf(live, schema)) return applied;
  const left = childrenOf(live, schema);
  const right = childrenOf(applied, schema);
  const merged = mergedOrder([...left.keys()], [...right.keys()]).map((element): Child => {
    const old = left.get(element);
    const now = right.get(element);
    const child = now ?? old;
    const value = merge(old?.value, now?.value, child?.schema) ?? null;
    return { element, value, schema: child?.schema };
  });
  return rebuild(live, merged);
}

/**
 * The order of a merged list: the applied order holds between applied entries; an entry that only the live list has
 * keeps its place before the next entry that both have.
 */
export function mergedOrder(live: readonly string[], applied: readonly string[]): string[] {
  const isApplied = new Set(applied);
  const isLive = new Set(live);
  const result: string[] = [];
  let next = 0;
  for (let left = 0; left < live.length || next < applied.length; ) {
    const candidate = live[left];
    const nextShared = applied.slice(next).find((element) => isLive.has(element));
    if (candidate !== undefined && !isApplied.has(candidate)) {
      result.push(candidate);
      left += 1;
    } else if (candidate !== undefined && candidate !== nextShared) {
      left += 1;
    } else {
      result.push(applied[next] ?? '');
      next += 1;
    }
  }
  return result;
}

/** The value without the given fields; a removed field takes everything below it along. */
export function removeFields(value: Json, gone: FieldSet, schema: Schema | undefined): Json {
  if (gone.children.size === 0 || shapeOf(value, schema) === 'leaf') return value;
  const kept = [...childrenOf(value, schema).values()].flatMap((child) => {
    const below = gone.children.get(child.element) ?? emptySet;
    return below.member
      ? []
      : [{ ...child, value: removeFields(child.value, below, child.schema) }];
  });
  return rebuild(value, kept);
}

function rebuild(model: Json, children: readonly Child[]): Json {
  if (isList(model)) return children.map((child) => child.value);
  if (!isObject(model)) return model;
  const members = children.map((child): [string, Json] => [child.element.slice(2), child.value]);
  return Object.fromEntries(members) satisfies JsonObject;
}
