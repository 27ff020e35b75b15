import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ownArchitecture } from '../../../build/image/images.ts';
import {
  layOutCommand,
  layOutPortableCommand,
} from '../../../build/image/release/command-folder.ts';
import { writeRelease } from '../../../build/image/release/release.ts';
import { toolPath } from '../../../rig/control-plane/control-plane.ts';
import { type Built, buildAndUnpack, repository, run } from '../../packaging/images/built.ts';

let built: Built;
let release: string;
let env: Record<string, string>;

beforeAll(async () => {
  built = await buildAndUnpack([ownArchitecture]);
  release = join(built.folder, 'release');
  await writeCommands();
  const [home, bin] = [join(built.folder, 'home'), join(built.folder, 'bin')];
  for (const folder of [home, bin]) await mkdir(folder);
  await symlink(await toolPath('kubectl'), join(bin, 'kubectl'));
  await symlink(await toolPath('krew'), join(bin, 'kubectl-krew'));
  env = { HOME: home, PATH: `${home}/.krew/bin:${bin}:/usr/bin:/bin` };
});

afterAll(() => built?.[Symbol.asyncDispose]());

/** Writes a release without images: krew reads the archives of the command line only. */
async function writeCommands(): Promise<void> {
  const { version, folder } = built;
  const [controllers] = built.images;
  if (!controllers) throw new Error('no image was built');
  const place = join(folder, 'command');
  const linux = { architecture: ownArchitecture, version, controllers, folder: `${place}/linux` };
  const commands = [
    await layOutCommand(linux),
    await layOutPortableCommand({ version, controllers, folder: `${place}/any` }),
  ];
  const work = join(folder, 'work');
  await writeRelease(release, { root: repository, version, images: [], commands, work });
}

/** Runs a program in a network namespace without any network. */
async function offline(...words: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run('unshare', ['--net', ...words], { env });
  return stdout + stderr;
}

function install(platform: string): Promise<string> {
  const archive = join(release, `multinic-${built.version}-${platform}.tar.gz`);
  const manifest = join(release, 'krew/multinic.yaml');
  const flags = [`--manifest=${manifest}`, `--archive=${archive}`];
  return offline('kubectl', 'krew', 'install', ...flags);
}

it('krew refuses an archive whose checksum the manifest does not have', async () => {
  await expect(install('any')).rejects.toThrow(/checksum does not match/);
});

it('krew installs the archive without network, and kubectl runs and completes the plugin', async () => {
  expect(await install(`linux-${ownArchitecture}`)).toContain('Installed plugin: multinic');
  expect(await offline('kubectl', 'multinic', 'version')).toContain(`multinic ${built.version}\n`);
  // krew links only the program; the manifest's caveats describe the completion file.
  const { spec } = parse(await readFile(join(release, 'krew/multinic.yaml'), 'utf8')) as {
    spec: { caveats: string };
  };
  const commands = spec.caveats.split('\n').filter((line) => line.startsWith('  '));
  await run('bash', ['-euc', commands.join('\n')], { env });
  expect(await offline('kubectl', '__complete', 'multinic', 'sta')).toMatch(/^status\n:4\n/);
  const store = join(`${env['HOME']}`, `.krew/store/multinic/v${built.version}`);
  const own = [join(store, 'bin/kubectl_complete-multinic'), 'sta'];
  expect(await offline(...own)).toBe('status\n:4\n');
});
