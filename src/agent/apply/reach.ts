import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type FileChange, type FileChanges, inOrder } from '../planning/unit.ts';

/** Files from a change begun under another network manager, as this run can reach them. */
export interface Reachable {
  /** Files in folders missing from the Pod are marked unchanged. */
  readonly files: FileChanges;
  /** Paths of unreachable files; their content is unknown. */
  readonly left: readonly string[];
}

export function inReachOf(files: FileChanges, hostRoot: string): Reachable {
  const isLost = ({ path, changed }: FileChange): boolean =>
    changed && !existsSync(dirname(join(hostRoot, path)));
  const reached = (change: FileChange): FileChange =>
    isLost(change) ? { ...change, changed: false } : change;
  const { interim, companions, commit, obsolete } = files;
  return {
    files: {
      ...(interim ? { interim: interim.map(reached) } : {}),
      companions: companions.map(reached),
      commit: reached(commit),
      obsolete: obsolete.map(reached),
    },
    left: inOrder(files)
      .filter(isLost)
      .map(({ path }) => path),
  };
}
