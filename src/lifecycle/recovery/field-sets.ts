import * as z from 'zod';
import type { KubeObject } from '../../kube/object.ts';

/** One entry in metadata.managedFields. */
const managedFieldsEntry = z.object({
  manager: z.string().default(''),
  operation: z.string().default(''),
  subresource: z.string().default(''),
  fieldsV1: z.record(z.string(), z.unknown()).default({}),
});

const managedFields = z.array(managedFieldsEntry).catch([]);

/** Field paths, such as `.spec.containers[name="c"].image`. */
export type FieldPaths = ReadonlySet<string>;

export interface FieldManager {
  readonly manager: string;
  readonly operation: string;
  readonly paths: FieldPaths;
}

/** Returns an object's field managers, except for subresources such as status. */
export function fieldManagersOf({ metadata }: KubeObject): readonly FieldManager[] {
  return managedFields
    .parse(metadata.managedFields ?? [])
    .filter(({ subresource }) => subresource === '' || subresource === 'scale')
    .map(({ manager, operation, fieldsV1 }) => ({
      manager,
      operation,
      paths: pathsOf(fieldsV1),
    }));
}

/** Returns paths owned by a manager through server-side apply. */
export function appliedPaths(object: KubeObject, manager: string): FieldPaths {
  const own = fieldManagersOf(object).filter(
    (one) => one.manager === manager && one.operation === 'Apply',
  );
  return new Set(own.flatMap(({ paths }) => [...paths]));
}

/** Returns the leaves of a FieldsV1 set, plus keyed list items: a manager may own only their keys. */
export function pathsOf(fieldsV1: Readonly<Record<string, unknown>>): FieldPaths {
  const paths = new Set<string>();
  collect(fieldsV1, '', paths);
  return paths;
}

function collect(fields: Readonly<Record<string, unknown>>, path: string, into: Set<string>): void {
  for (const [key, below] of Object.entries(fields)) {
    // `.` means ownership of the field itself, in addition to nested fields.
    const at = key === '.' ? path : path + stepOf(key);
    const isLeaf = !isRecord(below) || Object.keys(below).length === 0;
    if (isLeaf) into.add(at);
    else collect(below, at, into);
  }
}

/** `f:name` is a field, `k:{…}` a list item by keys, `v:value` a set item, `i:n` an item by position. */
function stepOf(key: string): string {
  const [, kind, rest = ''] = /^([fkvi]):(.*)$/s.exec(key) ?? [];
  if (kind === 'f') return /^[\w-]+$/.test(rest) ? `.${rest}` : `[${JSON.stringify(rest)}]`;
  return kind === 'k' ? `[${keysOf(rest)}]` : `[${rest}]`;
}

function keysOf(json: string): string {
  try {
    const keys = z.record(z.string(), z.unknown()).parse(JSON.parse(json));
    return Object.entries(keys)
      .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
      .join(',');
  } catch {
    return json;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object';
}
