import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toolPath } from '../../rig/control-plane/control-plane.ts';

/** A folder with kubectl and helm in which whoever calls them dies when they have changed something for the n-th time. */
export interface MortalTools {
  readonly path: string;
  /** From now on the caller dies after so many changes; helm is killed with it, in the middle of its work, when `inHelm`. */
  dieAfter(changes: number, inHelm?: boolean): Promise<void>;
}

const kubectlWrites = 'scale delete create apply patch annotate label replace set';
const helmWrites = 'upgrade uninstall rollback';

export async function mortalTools(folder: string): Promise<MortalTools> {
  await mkdir(folder, { recursive: true });
  const left = join(folder, 'left');
  for (const [tool, writes] of [
    ['kubectl', kubectlWrites],
    ['helm', helmWrites],
  ] as const) {
    const file = join(folder, tool);
    await writeFile(file, script(await toolPath(tool), writes, left));
    await chmod(file, 0o755);
  }
  return {
    path: folder,
    async dieAfter(changes, inHelm = false) {
      await writeFile(left, `${changes} ${inHelm}\n`);
    },
  };
}

function script(real: string, writes: string, left: string): string {
  return `#!/usr/bin/env bash
for word; do
  if [[ " ${writes} " == *" $word "* && " $* " != *' --dry-run'* ]]; then change=true; fi
done
read -r changes in_helm <${left}
if [[ \${change:-} && $changes -gt 0 ]]; then
  changes=$((changes - 1))
  echo "$changes $in_helm" >${left}
  if [[ $changes == 0 && $in_helm == true && $0 == */helm ]]; then
    timeout --signal=KILL 1 ${real} "$@"
    kill -KILL $PPID
  fi
  ${real} "$@"
  code=$?
  [[ $changes != 0 ]] || kill -KILL $PPID
  exit $code
fi
exec ${real} "$@"
`;
}
