import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { versionOf } from '../../identity.ts';
import { complaintOf, run } from '../command.ts';
import { ownArchitecture } from '../images.ts';
import { copyCheckout, writeCommandArchive } from './command-archive.ts';

const repository = join(import.meta.dirname, '../../..');
let folder: string;
/** The archive of this repository, unpacked where somebody may have put it. */
let site: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'multinic-site-'));
  const version = await versionOf(repository);
  const [work, place] = [join(folder, 'work'), join(folder, 'carried in')];
  for (const one of [work, place]) await mkdir(one);
  await putCommand();
  const command = { architecture: ownArchitecture, folder: join(folder, 'command'), sbom: '' };
  const tree = join(work, `multinic-${version}`);
  await copyCheckout(repository, tree);
  const file = await writeCommandArchive(command, { tree, out: folder });
  await run(['tar', '-xzf', join(folder, file), '-C', place]);
  site = join(place, `multinic-${version}`);
  await program('kubectl', `case $* in *'--raw /version'*) echo '"gitVersion": "v1.37.1"' ;; esac`);
  // As helm, it needs the chart and the values that it is told.
  const words = 'for word; do case $word in /*) [ -e "$word" ] || exit 1 ;; esac; done';
  await program('helm', `printf '%s\\n' "$*" >>'${folder}/helm'; ${words}`);
});

afterAll(() => rm(folder, { recursive: true }));

/** The folder that a build lays out from the image: here a Node.js that is a link, and a main module of one line. */
async function putCommand(): Promise<void> {
  const place = join(folder, 'command/lib/multinic');
  await mkdir(place, { recursive: true });
  await symlink(process.execPath, join(place, 'node'));
  await writeFile(join(place, 'main.mjs'), 'console.log(JSON.stringify(process.argv.slice(2)));');
}

async function program(name: string, text: string): Promise<void> {
  const path = join(folder, 'bin', name);
  await mkdir(join(folder, 'bin'), { recursive: true });
  await writeFile(path, `#!/bin/bash\n${text}\n`);
  await chmod(path, 0o755);
}

const scripts = {
  'deploy-operator.sh': 'multinic-operator',
  'scripts/build-and-deploy.sh': 'multinic-agent',
} as const;

/** Runs a script of the archive, from elsewhere, with tools that do nothing. */
function script(path: string, ...words: string[]): Promise<string> {
  const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env['PATH']}` };
  return run([join(site, path), ...words], { env, cwd: folder });
}

describe('from the archive, without the repository and without npm', () => {
  it.each(Object.entries(scripts))('%s installs the chart that came along', async (path, chart) => {
    const skip = path.startsWith('scripts/') ? ['--skip-build'] : [];
    await script(path, '--type', 'production', ...skip, '--dry-run');
    const called = await readFile(join(folder, 'helm'), 'utf8');
    expect(called).toContain(`${site}/charts/${chart} --namespace`);
    expect(called).toContain(`--values ${site}/charts/${chart}/values-production.yaml`);
  });

  it.each([
    ['deploy-operator.sh', '--build', 'leave --build out'],
    ['scripts/build-and-deploy.sh', '--type=', 'give --skip-build'],
  ])('%s says that it cannot build images', async (path, option, advice) => {
    const words = option === '--type=' ? ['--type', 'dev'] : [option];
    const said = await script(path, ...words, '--dry-run').catch(complaintOf);
    expect(said).toContain('there is nothing here to build images from');
    expect(said).toContain(advice);
  });

  it.each(['cleanup-operator.sh', 'scripts/cleanup-agent.sh'])('%s removes', async (path) => {
    await script(path, '--dry-run');
    expect(await readFile(join(folder, 'helm'), 'utf8')).toContain('status multinic-');
  });

  it('bin/multinic runs the bundle with the Node.js of the archive, also by a link from elsewhere', async () => {
    const link = join(folder, 'bin/multinic');
    await symlink(join(site, 'bin/multinic'), link);
    const options = { env: { PATH: '/usr/bin:/bin' }, cwd: folder };
    expect(await run([link, 'register-cluster', 'a b'], options)).toBe(
      '["register-cluster","a b"]\n',
    );
  });
});
