import { isObject, type Json } from '../objects/json.ts';
import type { Schema } from '../schema/schema.ts';
import { type FieldSet, leafSet, node } from './field-set.ts';
import { type Child, childrenOf, isDeclared, shapeOf } from './shape.ts';

/** The fields that a value speaks about: what its manager owns after applying it. */
export function fieldsOf(value: Json, schema: Schema | undefined): FieldSet {
  const shape = shapeOf(value, schema);
  if (shape === 'leaf') return leafSet;
  const children = [...childrenOf(value, schema).values()];
  return node(
    false,
    children.map((child) => [child.element, fieldsOfChild(child, schema)]),
  );
}

/** Entries of maps and lists are fields of their own; a declared member is one only when it is empty. */
function fieldsOfChild(child: Child, parent: Schema | undefined): FieldSet {
  const below = fieldsOf(child.value, child.schema);
  const empty = child.value === null || (isObject(child.value) && isEmptyObject(child.value));
  const member = below.member || empty || !isDeclared(parent, child.element);
  return { member, children: below.children };
}

function isEmptyObject(value: object): boolean {
  return Object.keys(value).length === 0;
}
