import { defined } from '../objects/json.ts';
import type { ManagedFieldsEntry } from '../objects/object.ts';
import { type FieldSet, fromFieldsV1, isEmpty, sameSet, toFieldsV1 } from './field-set.ts';

/** Who writes: a manager's name together with how and where it writes. */
export interface Manager {
  readonly name: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource?: string;
}

/** A manager and the fields that are its own. */
export interface Owner {
  readonly manager: Manager;
  readonly fields: FieldSet;
  readonly time?: string;
}

/** All owners of one object by identity. */
export type Owners = ReadonlyMap<string, Owner>;

/** An applier stays the same one when it moves to another version of the kind; an updater does not. */
export function identity({ name, operation, apiVersion, subresource }: Manager): string {
  const version = operation === 'Apply' ? '' : apiVersion;
  return JSON.stringify([name, operation, version, subresource ?? '']);
}

/** Reads `metadata.managedFields`. */
export function ownersOf(entries: readonly ManagedFieldsEntry[] | undefined): Owners {
  const owners = (entries ?? []).map((entry): [string, Owner] => {
    const { manager: name, operation, apiVersion, subresource, time, fieldsV1 } = entry;
    const manager = {
      name,
      operation,
      apiVersion,
      ...(subresource === undefined ? {} : { subresource }),
    };
    const fields = fromFieldsV1(fieldsV1);
    return [identity(manager), { manager, fields, ...(time === undefined ? {} : { time }) }];
  });
  return new Map(owners);
}

/** Writes `metadata.managedFields`: appliers first, then by time and name. */
export function managedFields(owners: Owners): readonly ManagedFieldsEntry[] {
  const sorted = [...owners.values()].toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
  return sorted.map(
    ({ manager, fields, time }) =>
      defined({
        manager: manager.name,
        operation: manager.operation,
        apiVersion: manager.apiVersion,
        time,
        fieldsType: 'FieldsV1',
        fieldsV1: toFieldsV1(fields),
        subresource: manager.subresource,
      }) as ManagedFieldsEntry,
  );
}

function rank({ manager, time }: Owner): string {
  return [manager.operation, time ?? '', manager.name, manager.subresource ?? ''].join('\n');
}

/** The owners with one of them replaced; an owner of nothing is forgotten. */
export function withOwner(owners: Owners, owner: Owner): Owners {
  const id = identity(owner.manager);
  const rest = [...owners].filter(([other]) => other !== id);
  return new Map(isEmpty(owner.fields) ? rest : [...rest, [id, owner]]);
}

/** True when everybody owns what they owned. */
export function sameOwners(a: Owners, b: Owners): boolean {
  if (a.size !== b.size) return false;
  return [...a].every(([id, owner]) => {
    const other = b.get(id);
    return other !== undefined && sameSet(owner.fields, other.fields);
  });
}
