import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface Mount {
  /** Where the container sees it. */
  readonly mountPath: string;
  /** Where it really is. */
  readonly source: string;
}

/** What a container sees of the file system: its mounts, and nothing else. */
export interface Rootfs {
  /** A path of the container as a path of this machine; a path that the container does not have stays as it is. */
  resolve(path: string): string;
}

/**
 * A folder of links that stands for a container's file system. A plain process has no mounts of its own, so it is given
 * paths below this folder instead.
 */
export async function buildRootfs(
  folder: string,
  mounts: readonly Mount[],
  terminationMessagePath: string,
): Promise<Rootfs> {
  for (const { mountPath, source } of mounts) {
    const link = join(folder, mountPath);
    await mkdir(dirname(link), { recursive: true });
    await symlink(source, link);
  }
  const messageFile = join(folder, terminationMessagePath);
  await mkdir(dirname(messageFile), { recursive: true });
  await writeFile(messageFile, '');
  const known = [...mounts.map((mount) => mount.mountPath), terminationMessagePath];
  return {
    resolve: (path) => (known.some((one) => isSameTree(one, path)) ? join(folder, path) : path),
  };
}

/** True when one path is the other or leads to it. */
function isSameTree(mountPath: string, path: string): boolean {
  if (!path.startsWith('/')) return false;
  const [mount, asked] = [mountPath, path].map((one) => `${one.replace(/\/+$/, '')}/`);
  return (
    asked !== undefined &&
    mount !== undefined &&
    (asked.startsWith(mount) || mount.startsWith(asked))
  );
}

/** Arguments with the container's paths replaced, alone (`--result PATH`) or after an equals sign (`--result=PATH`). */
export function translateArguments(args: readonly string[], rootfs: Rootfs): readonly string[] {
  return args.map((argument) => {
    const [flag, ...rest] = argument.split('=');
    const isFlag = argument.startsWith('--') && rest.length > 0;
    return isFlag ? `${flag}=${rootfs.resolve(rest.join('='))}` : rootfs.resolve(argument);
  });
}
