import { chmod, cp, lstat, mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { DebianPackage } from './debian.ts';

/** Files from Debian packages in a layer, by package: all files with matching names, links included; null: none. */
export type Selection = Readonly<Record<string, RegExp | null>>;

/** Libraries that Node.js is linked against. */
export const nodeLibraries: Selection = {
  // Copyright file for both gcc libraries.
  'gcc-12-base': null,
  libc6: /^(ld-linux-.*|libc|libdl|libm|libpthread)\.so\.\d+$/,
  'libgcc-s1': /^libgcc_s\.so\.1$/,
  'libstdc++6': /^libstdc\+\+\.so\.6/,
};

/** `ip` and `bridge`, and their additional libraries. */
export const ipTool: Selection = {
  iproute2: /^(ip|bridge)$/,
  libbpf1: /^libbpf\.so\.1/,
  libbsd0: /^libbsd\.so\.0/,
  libcap2: /^libcap\.so\.2/,
  libelf1: /^libelf(-[\d.]+\.so|\.so\.1)$/,
  libmd0: /^libmd\.so\.0/,
  libmnl0: /^libmnl\.so\.0/,
  zlib1g: /^libz\.so\.1/,
};

/** Who a process may be. Names are looked up in files, then by DNS. */
const accounts: Readonly<Record<string, string>> = {
  '/etc/passwd':
    'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n',
  '/etc/group': 'root:x:0:\nnonroot:x:65532:\n',
  '/etc/nsswitch.conf': 'hosts: files dns\n',
};

/** Creates mount points for container runtimes, and /etc/passwd and /etc/group. */
export async function putAccounts(root: string): Promise<void> {
  for (const folder of ['dev', 'etc', 'proc', 'sys', 'tmp', 'home/nonroot']) {
    await mkdir(join(root, folder), { recursive: true });
  }
  await chmod(join(root, 'tmp'), 0o1777);
  for (const [path, text] of Object.entries(accounts)) await putText(root, path, text);
}

export async function putText(root: string, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
  await chmod(join(root, path), 0o644);
}

/** Copies a file. Executable files become executable for every user; all further mode bits are dropped. */
export async function putFile(root: string, path: string, source: string): Promise<void> {
  const to = join(root, path);
  await mkdir(dirname(to), { recursive: true });
  await cp(source, to, { verbatimSymlinks: true });
  const { mode } = await lstat(source);
  const isLink = (await lstat(to)).isSymbolicLink();
  if (!isLink) await chmod(to, mode & 0o100 ? 0o755 : 0o644);
}

/** Copies the selected files from each package to their packaged paths, with the copyright file. */
export async function putPackages(
  root: string,
  packages: readonly DebianPackage[],
  selection: Selection,
): Promise<void> {
  for (const { name, folder } of packages) {
    const wanted = selection[name];
    if (wanted === undefined) continue;
    const files = (await filesBelow(folder)).filter((path) => isTaken(path, name, wanted));
    const taken = files.filter((path) => !path.startsWith(docs));
    if (wanted && taken.length === 0) throw new Error(`${name} has no file called ${wanted}`);
    for (const path of files) await putFile(root, path, join(folder, path));
  }
}

const docs = '/usr/share/doc/';

/** The license is in the copyright file, or in the package to which the copyright file links. */
function isTaken(path: string, name: string, wanted: RegExp | null): boolean {
  if (path.startsWith(docs)) return [name, `${name}/copyright`].includes(path.slice(docs.length));
  return (wanted?.test(basename(path)) ?? false) && !path.startsWith('/usr/share/');
}

/** Paths of all files and links in a folder, from `/`, in order. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length))
    .toSorted();
}
