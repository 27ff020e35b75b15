import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { run } from '../../build/image/command.ts';
import { type DebianPackage, debianPackages } from '../../build/image/debian.ts';
import { withFolder } from '../../build/image/workplace.ts';
import { contents, files, onlyFiles, type Series, shellPrograms } from './contents.ts';

const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';

/** Root file system of the image in the cache; unpacks Debian's packages the first time. */
export async function rootOf(series: Series): Promise<string> {
  const place = join(await cacheFolder(), `root-${series}`);
  if (existsSync(place)) return place;
  await mkdir(dirname(place), { recursive: true });
  await withFolder(`${place}-`, async (work) => {
    const { release, packages } = contents[series];
    const unpacked = await debianPackages(architecture, packages, work, { release });
    const root = join(work, 'root');
    await makeFolders(root);
    for (const one of unpacked) await addPackage(one, root);
    await addShell(root);
    await trim(root);
    const versions = unpacked.map(({ name, version }) => `${name} ${version}\n`);
    await writeFile(join(root, 'packages'), versions.join(''));
    await rename(root, place);
  });
  return place;
}

/** Content-addressed: another list of packages is another folder. */
async function cacheFolder(): Promise<string> {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const sources = ['contents.ts', 'root.ts'].map((name) => join(import.meta.dirname, name));
  const hash = createHash('sha256');
  for (const path of sources) hash.update(await readFile(path));
  return join(cache, 'multinic', `mariadb-${hash.digest('hex').slice(0, 12)}`);
}

/** Debian 12's packages still have /lib and /bin beside /usr. */
async function makeFolders(root: string): Promise<void> {
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) {
    await mkdir(join(root, 'usr', name), { recursive: true });
    await symlink(`usr/${name}`, join(root, name));
  }
  for (const name of [
    'etc/multinic',
    'proc',
    'dev',
    'sys',
    'run/mysqld',
    'var/lib/mysql',
    'backup',
    'scratch',
  ]) {
    await mkdir(join(root, name), { recursive: true });
  }
  await mkdir(join(root, 'tmp'));
  await chmod(join(root, 'tmp'), 0o1777);
}

async function addPackage({ name, folder }: DebianPackage, root: string): Promise<void> {
  const chosen = onlyFiles[name]?.filter((path) => existsSync(join(folder, path)));
  await copy(folder, root, chosen?.map((path) => `./${path}`) ?? ['.']);
}

async function copy(folder: string, root: string, paths: readonly string[]): Promise<void> {
  const archive = `${root}.tar`;
  await run(['tar', '-C', folder, '-cf', archive, ...paths]);
  await run(['tar', '-C', root, '--keep-directory-symlink', '--no-same-owner', '-xf', archive]);
  await rm(archive);
}

async function addShell(root: string): Promise<void> {
  for (const name of shellPrograms) await symlink('busybox', join(root, 'usr/bin', name));
  for (const [path, text] of Object.entries(files)) await writeFile(join(root, path), text);
}

async function trim(root: string): Promise<void> {
  const needless = ['usr/share/doc', 'usr/share/man', 'usr/share/locale', 'usr/lib/systemd'];
  for (const path of needless) await rm(join(root, path), { recursive: true, force: true });
}
