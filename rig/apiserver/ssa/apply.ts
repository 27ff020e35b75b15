import type { JsonObject } from '../objects/json.ts';
import type { Schema } from '../schema/schema.ts';
import { compare, isSame, touched } from './compare.ts';
import { type FieldConflict, fieldConflicts } from './conflicts.ts';
import { difference, emptySet, type FieldSet, isEmpty, leafSet, node, union } from './field-set.ts';
import { fieldsOf } from './fields-of.ts';
import { identity, type Manager, type Owner, type Owners, withOwner } from './managers.ts';
import { merge, removeFields } from './merge.ts';
import { isDeclared } from './shape.ts';

/** One object's fields that managers can own, who owns them, and the schema that says how they merge. */
export interface Managed {
  readonly content: JsonObject;
  readonly owners: Owners;
}

export interface Write {
  readonly manager: Manager;
  readonly schema: Schema;
  /** RFC 3339 time of this write. */
  readonly time: string;
}

export type Applied =
  | ({ readonly kind: 'applied' } & Managed)
  | { readonly kind: 'conflict'; readonly conflicts: readonly FieldConflict[] };

const metadataItself: FieldSet = node(false, [['f:metadata', leafSet]]);

/**
 * Server-side apply: merges `applied` into the live content, drops what this manager applied before and nobody owns
 * any more, and refuses to change fields of other managers unless forced.
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/
 */
export function apply(live: Managed, applied: JsonObject, write: Write, force: boolean): Applied {
  const { manager, schema, time } = write;
  const fields = difference(fieldsOf(applied, schema), metadataItself);
  const before = live.owners.get(identity(manager));
  const claimed = withOwner(live.owners, { manager, fields, time });
  const merged = (merge(live.content, applied, schema) ?? {}) as JsonObject;
  const gone = abandoned(before?.fields ?? emptySet, allFields(claimed), schema);
  const content = removeFields(merged, gone, schema) as JsonObject;
  const comparison = compare(live.content, content, schema);
  const others = [...claimed.values()].filter(
    (owner) => identity(owner.manager) !== identity(manager),
  );
  const conflicts = fieldConflicts(others, touched(comparison));
  if (conflicts.length > 0 && !force) return { kind: 'conflict', conflicts };
  const lost = union(touched(comparison), comparison.removed);
  const mine = mineAfter(before, { manager, fields, time }, isSame(comparison));
  return { kind: 'applied', content, owners: withOwner(without(others, lost), mine) };
}

/** A plain write (POST, PUT, PATCH): the writer takes the fields it changed from everybody else. */
export function track(live: Managed, content: JsonObject, write: Write): Owners {
  const { manager, schema, time } = write;
  const comparison = compare(live.content, content, schema);
  if (isSame(comparison)) return live.owners;
  const changed = difference(touched(comparison), metadataItself);
  const rest = without([...live.owners.values()], union(changed, comparison.removed));
  if (isEmpty(changed)) return rest;
  const mine = rest.get(identity(manager))?.fields ?? emptySet;
  return withOwner(rest, { manager, fields: union(mine, changed), time });
}

function without(owners: readonly Owner[], lost: FieldSet): Owners {
  return owners.reduce<Owners>(
    (rest, owner) => withOwner(rest, { ...owner, fields: difference(owner.fields, lost) }),
    new Map(),
  );
}

function allFields(owners: Owners): FieldSet {
  return [...owners.values()].reduce((all, owner) => union(all, owner.fields), emptySet);
}

/** The time of an entry is that of its last change of the object; a change of ownership alone leaves it without one. */
function mineAfter(before: Owner | undefined, now: Owner, objectIsSame: boolean): Owner {
  if (!objectIsSame) return now;
  if (before && isEmpty(differing(before, now.fields))) return before;
  return { manager: now.manager, fields: now.fields };
}

function differing(before: Owner, fields: FieldSet): FieldSet {
  return union(difference(before.fields, fields), difference(fields, before.fields));
}

/**
 * The fields to remove: applied before, owned by nobody now. A declared object goes as a whole when nothing in it is
 * owned; `metadata` itself always stays, it holds the object's name.
 */
function abandoned(
  before: FieldSet,
  owned: FieldSet,
  schema: Schema | undefined,
  path: readonly string[] = [],
): FieldSet {
  const children = [...before.children].map(([element, child]): [string, FieldSet] => {
    const stillOwned = owned.children.get(element) ?? emptySet;
    const removable = child.member || isDeclared(schema, element);
    const isMetadata = path.length === 0 && element === 'f:metadata';
    if (removable && !isMetadata && isEmpty(stillOwned)) return [element, leafSet];
    return [element, abandoned(child, stillOwned, below(schema, element), [...path, element])];
  });
  return node(false, children);
}

function below(schema: Schema | undefined, element: string): Schema | undefined {
  if (!element.startsWith('f:')) return schema?.items;
  const key = element.slice(2);
  if (isDeclared(schema, element)) return schema?.properties?.[key];
  const rest = schema?.additionalProperties;
  return typeof rest === 'object' ? rest : undefined;
}
