import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './command.ts';

/** Architecture name in Debian and OCI. */
export type Architecture = 'amd64' | 'arm64';

/** A package, unpacked. */
export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
}

/** Debian 12 and 13. */
export type Release = 'bookworm' | 'trixie';

export interface DebianOptions {
  /** Keyring with Debian's signing keys. Default: the keyring from package debian-archive-keyring. */
  readonly keyring?: string;
  /** Default: bookworm. */
  readonly release?: Release;
}

const debianKeyring = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** Where packages come from: `debian` and `debian-security` are paths below it. */
const mirror = process.env['DEBIAN_MIRROR'] ?? 'http://deb.debian.org';

/**
 * Downloads Debian packages with apt's verification and unpacks each into a separate folder. apt runs with a private state in `work`: the
 * machine's packages, sources and architecture have no influence.
 */
export async function debianPackages(
  architecture: Architecture,
  names: readonly string[],
  work: string,
  options: DebianOptions = {},
): Promise<DebianPackage[]> {
  const apt = await privateApt(architecture, work, options);
  await run([...apt, 'update']);
  const downloads = join(work, 'packages');
  await rm(downloads, { recursive: true, force: true });
  await mkdir(downloads, { recursive: true });
  await run([...apt, 'download', ...names], { cwd: downloads });
  const files = (await readdir(downloads)).toSorted();
  return Promise.all(
    files.map(async (file) => {
      const path = join(downloads, file);
      const field = async (name: string) => (await run(['dpkg-deb', '-f', path, name])).trim();
      const [name, version] = await Promise.all([field('Package'), field('Version')]);
      const folder = join(work, 'unpacked', name);
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true });
      await run(['dpkg-deb', '-x', path, folder]);
      return { name, version, folder };
    }),
  );
}

async function privateApt(
  architecture: Architecture,
  work: string,
  { keyring = debianKeyring, release = 'bookworm' }: DebianOptions,
): Promise<readonly [string, ...string[]]> {
  if (!existsSync(keyring)) {
    const hint = "install Debian's package debian-archive-keyring";
    throw new Error(`there is no ${keyring} to verify Debian's packages with; ${hint}`);
  }
  for (const folder of ['state/lists/partial', 'cache/archives/partial']) {
    await mkdir(join(work, folder), { recursive: true });
  }
  const sources = suitesOf(release).map(
    ([path, suite]) => `deb [signed-by=${keyring}] ${mirror}/${path} ${suite} main\n`,
  );
  await writeFile(join(work, 'sources.list'), sources.join(''));
  await writeFile(join(work, 'status'), '');
  const settings = {
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'APT::Sandbox::User': 'root',
    'Dir::State': join(work, 'state'),
    'Dir::State::status': join(work, 'status'),
    'Dir::Cache': join(work, 'cache'),
    'Dir::Etc::sourcelist': join(work, 'sources.list'),
    'Dir::Etc::sourceparts': '-',
    'Acquire::Retries': '3',
    'Acquire::Languages': 'none',
  };
  const options = Object.entries(settings).flatMap(([key, value]) => ['-o', `${key}=${value}`]);
  return ['apt-get', '-q', ...options];
}

function suitesOf(release: Release) {
  return [
    ['debian', release],
    ['debian', `${release}-updates`],
    ['debian-security', `${release}-security`],
  ] as const;
}
