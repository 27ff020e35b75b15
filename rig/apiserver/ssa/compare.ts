import { isList, isObject, type Json, sameJson } from '../objects/json.ts';
import type { Schema } from '../schema/schema.ts';
import { emptySet, type FieldSet, isEmpty, leafSet, node, union } from './field-set.ts';
import { childrenOf, type Shape, shapeOf } from './shape.ts';

/** What changed from one value to another, by field. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

const same: Comparison = { added: emptySet, modified: emptySet, removed: emptySet };

/** The fields that differ between two states of one value; a part that exists on one side only counts with all its fields. */
export function compare(
  before: Json | undefined,
  after: Json | undefined,
  schema: Schema | undefined,
): Comparison {
  if (sameJson(before, after)) return same;
  if (before === undefined) return { ...same, added: everything(after, schema) };
  if (after === undefined) return { ...same, removed: everything(before, schema) };
  const shape = commonShape(before, after, schema);
  return shape === 'leaf' ? { ...same, modified: leafSet } : compareChildren(before, after, schema);
}

export function isSame(comparison: Comparison): boolean {
  return [comparison.added, comparison.modified, comparison.removed].every(isEmpty);
}

/** Fields that were added or got another value. */
export function touched(comparison: Comparison): FieldSet {
  return union(comparison.added, comparison.modified);
}

function compareChildren(before: Json, after: Json, schema: Schema | undefined): Comparison {
  const left = childrenOf(before, schema);
  const right = childrenOf(after, schema);
  const elements = [...new Set([...left.keys(), ...right.keys()])];
  const parts = elements.map((element): [string, Comparison] => {
    const old = left.get(element);
    const now = right.get(element);
    return [element, compare(old?.value, now?.value, (now ?? old)?.schema)];
  });
  const collect = (pick: (part: Comparison) => FieldSet): FieldSet =>
    node(
      false,
      parts.map(([element, part]) => [element, pick(part)]),
    );
  return {
    added: collect((part) => part.added),
    modified: collect((part) => part.modified),
    removed: collect((part) => part.removed),
  };
}

/** A list and an object, or an empty side, cannot be merged member by member: they differ as wholes. */
function commonShape(before: Json, after: Json, schema: Schema | undefined): Shape {
  const shape = shapeOf(before, schema);
  return shape === shapeOf(after, schema) && isList(before) === isList(after) ? shape : 'leaf';
}

function everything(value: Json | undefined, schema: Schema | undefined): FieldSet {
  if (value === undefined) return emptySet;
  const nested = isObject(value) || isList(value);
  if (!nested || shapeOf(value, schema) === 'leaf') return leafSet;
  const children = [...childrenOf(value, schema).values()];
  return node(
    true,
    children.map((child) => [child.element, everything(child.value, child.schema)]),
  );
}
