import { namedSome } from '../../api/named-some.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { LostFields } from '../model/outcome.ts';
import { appliedPaths, type FieldManager, type FieldPaths, fieldManagersOf } from './field-sets.ts';

/** The whole object was deleted, by an unknown client. */
export const deleted: LostFields = { paths: ['(deleted)'], managers: [] };

/** Compares earlier owned fields with `own`'s current fields; undefined: nothing lost. */
export function lostFields(
  owned: FieldPaths,
  object: KubeObject,
  own: string,
): LostFields | undefined {
  const now = appliedPaths(object, own);
  const lost = [...owned].filter((path) => !now.has(path)).toSorted();
  if (lost.length === 0) return undefined;
  const others = fieldManagersOf(object).filter((one) => !isOwn(one, own));
  const takers = others.filter(({ paths }) => lost.some((path) => touches(paths, path)));
  return {
    paths: withoutNested(lost),
    managers: [...new Set(takers.map(({ manager }) => manager))].toSorted(),
  };
}

function isOwn({ manager, operation }: FieldManager, own: string): boolean {
  return manager === own && operation === 'Apply';
}

/** A manager may own the field, a part, or an enclosing field. */
function touches(paths: FieldPaths, lost: string): boolean {
  return [...paths].some((path) => isWithin(path, lost) || isWithin(lost, path));
}

export function isWithin(path: string, whole: string): boolean {
  if (path === whole) return true;
  const next = path[whole.length];
  return path.startsWith(whole) && (next === '.' || next === '[');
}

function withoutNested(sorted: readonly string[]): readonly string[] {
  return sorted.filter((path) => !sorted.some((one) => one !== path && isWithin(path, one)));
}

/** Maximum number of fields named in a message; further fields are counted. */
const mostNamed = 5;

/** Returns text such as `kubectl-edit changed .spec.replicas`. */
export function lostFieldsText({ paths, managers }: LostFields): string {
  if (paths === deleted.paths) return 'deleted';
  const who = managers.length === 0 ? 'a client removed' : `${managers.join(', ')} changed`;
  return `${who} ${namedSome(paths, mostNamed, { noun: 'field' })}`;
}
