import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type FileChange, type FileChanges, inOrder } from '../planning/unit.ts';

/** The files of a change that was begun while the host was of another family, as a run for the one of now finds them. */
export interface Reachable {
  /** Of those in folders that the Pod does not have nothing changes any more. */
  readonly files: FileChanges;
  /** Paths of those: what they say nobody knows. */
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
