import { isObject, type JsonObject } from '../objects/json.ts';

/**
 * A set of field paths as a tree. Keys are path elements in their FieldsV1 form: `f:name`, `k:{"id":1}` for an entry
 * of a list that is a map, `v:"x"` for an entry of a list that is a set.
 */
export interface FieldSet {
  /** True when the path that leads here is itself in the set. */
  readonly member: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

export type Path = readonly string[];

export const emptySet: FieldSet = { member: false, children: new Map() };
export const leafSet: FieldSet = { member: true, children: new Map() };

/** A node from its parts; children without content are left out. */
export function node(member: boolean, children: Iterable<readonly [string, FieldSet]>): FieldSet {
  return { member, children: new Map([...children].filter(([, child]) => !isEmpty(child))) };
}

export function isEmpty(set: FieldSet): boolean {
  return !set.member && set.children.size === 0;
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  return combine(a, b, (left, right) => left || right);
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return combine(a, b, (left, right) => left && right);
}

/** The paths of `a` that are not in `b`; a path of `b` says nothing about those below it. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return combine(a, b, (left, right) => left && !right);
}

function combine(
  a: FieldSet,
  b: FieldSet,
  keep: (inA: boolean, inB: boolean) => boolean,
): FieldSet {
  const keys = new Set([...a.children.keys(), ...b.children.keys()]);
  const children = [...keys].map((key): [string, FieldSet] => {
    const left = a.children.get(key) ?? emptySet;
    const right = b.children.get(key) ?? emptySet;
    return [key, combine(left, right, keep)];
  });
  return node(keep(a.member, b.member), children);
}

export function sameSet(a: FieldSet, b: FieldSet): boolean {
  return isEmpty(difference(a, b)) && isEmpty(difference(b, a));
}

/** Every path of the set, in the order of the server's messages: members of a node, then what is below each child. */
export function pathsOf(set: FieldSet, prefix: Path = []): readonly Path[] {
  const children = [...set.children].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const members = children.filter(([, child]) => child.member).map(([key]) => [...prefix, key]);
  const below = children.flatMap(([key, child]) => pathsOf(child, [...prefix, key]));
  return [...members, ...below];
}

/** A path as Kubernetes' messages print it: `.spec.nics[id="a"].mtu`. */
export function pathText(path: Path): string {
  return path.map(elementText).join('');
}

function elementText(element: string): string {
  const content = element.slice(2);
  if (element.startsWith('f:')) return `.${content}`;
  if (element.startsWith('v:')) return `[=${content}]`;
  const keys = JSON.parse(content) as JsonObject;
  const parts = Object.entries(keys).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return `[${parts.join(',')}]`;
}

/** The set as `fieldsV1` stores it. */
export function toFieldsV1(set: FieldSet): JsonObject {
  const children = [...set.children].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const entries = children.map(([key, child]): [string, JsonObject] => [key, toFieldsV1(child)]);
  const self: [string, JsonObject][] = set.member && entries.length > 0 ? [['.', {}]] : [];
  return Object.fromEntries([...self, ...entries]);
}

/** Reads a `fieldsV1` back; a node without content is a path of the set. */
export function fromFieldsV1(fields: JsonObject): FieldSet {
  return parse(fields, false);
}

function parse(fields: JsonObject, nested: boolean): FieldSet {
  const entries = Object.entries(fields).filter(([key]) => key !== '.');
  const children = entries.map(([key, value]): [string, FieldSet] => [
    key,
    parse(isObject(value) ? value : {}, true),
  ]);
  return node(nested && (entries.length === 0 || '.' in fields), children);
}
