import { fieldManagers } from '../../api/names.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { LostFields } from '../model/outcome.ts';
import { appliedPaths, type FieldPaths, fieldManagersOf } from './field-sets.ts';
import { isWithin } from './lost-fields.ts';

const pod = '.spec.template.spec';
const own: readonly string[] = [fieldManagers.lifecycle, fieldManagers.lifecycleOperation];

/** Returns Pod template fields added by other managers, such as `args`; undefined: none. */
export function foreignFields(object: KubeObject): LostFields | undefined {
  const owned = appliedPaths(object, fieldManagers.lifecycle);
  const found = fieldManagersOf(object)
    .filter(({ manager }) => !own.includes(manager))
    .map(({ manager, paths }) => ({ manager, added: addedBy(paths, owned) }))
    .filter(({ added }) => added.length > 0);
  if (found.length === 0) return undefined;
  return {
    paths: [...new Set(found.flatMap(({ added }) => added))].toSorted(),
    managers: [...new Set(found.map(({ manager }) => manager))].toSorted(),
  };
}

/** Another manager of an own field also owns the keys of our list items. */
function addedBy(paths: FieldPaths, owned: FieldPaths): string[] {
  const isOwn = (path: string) => [...owned].some((one) => isWithin(one, path));
  return [...paths].filter((path) => isWithin(path, pod) && !isOwn(path));
}

/** Returns text such as `StatefulSet mariadb (kubectl-patch added .spec.template.spec.hostNetwork)`. */
export function foreignFieldsText(name: string, { paths, managers }: LostFields): string {
  return `${name} (${managers.join(', ')} added ${paths.join(', ')})`;
}
