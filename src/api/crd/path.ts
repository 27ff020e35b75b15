// Apart from the definitions, because every part names this path, and their schemas take 0.6 MB of a process.
import { bizConfigGroups, businessGroup } from '../names.ts';

/**
 * Returns a definition's path in the repository, by file name. `kubectl apply -f deploy/crds` skips subfolders: a
 * second MultiNicBizConfig group would make kubectl warn at each use of the short names.
 */
export function crdPath(file: string): string {
  const isOptional = bizConfigGroups.some(
    (group) => group !== businessGroup && file.startsWith(`${group}_`),
  );
  return isOptional ? `deploy/crds/optional/${file}` : `deploy/crds/${file}`;
}
