import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { complaintOf, run } from '../command.ts';
import { ownArchitecture } from '../images.ts';
import { type CommandFolder, copyCheckout, writeCommandArchive } from './command-archive.ts';
import { nodeVersionCheck } from './node-version-check.ts';

const repository = join(import.meta.dirname, '../../..');
let folder: string;
/** The archive of this repository, unpacked into an arbitrary folder. */
let site: string;
/** The archive for any platform, unpacked. */
let anywhere: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'multinic-site-'));
  const version = '1.2.3';
  const [work, place] = [join(folder, 'work'), join(folder, 'carried in')];
  await mkdir(work);
  await putCommand();
  const command = {
    platform: `linux-${ownArchitecture}`,
    folder: join(folder, 'command'),
  } as const;
  const tree = join(work, `multinic-${version}`);
  await copyCheckout(repository, tree);
  const unpackInto = async (to: string, { platform, ...from }: Omit<CommandFolder, 'sbom'>) => {
    const file = await writeCommandArchive({ platform, ...from, sbom: '' }, { tree, out: folder });
    await mkdir(to);
    await run(['tar', '-xzf', join(folder, file), '-C', to]);
    return join(to, `multinic-${version}`);
  };
  site = await unpackInto(place, command);
  const portable = { platform: 'any', folder: join(folder, 'portable') } as const;
  anywhere = await unpackInto(join(folder, 'anywhere'), portable);
  await program('kubectl', `case $* in *'--raw /version'*) echo '"gitVersion": "v1.37.1"' ;; esac`);
  // Like helm, fails without the chart and values named in the arguments.
  const words = 'for word; do case $word in /*) [ -e "$word" ] || exit 1 ;; esac; done';
  await program('helm', `printf '%s\\n' "$*" >>'${folder}/helm'; ${words}`);
});

afterAll(() => rm(folder, { recursive: true }));

/** Build folders as in the image: here Node.js is a link, and the main module a single line. */
async function putCommand(): Promise<void> {
  const main = 'console.log(JSON.stringify(process.argv.slice(2)));';
  for (const name of ['command', 'portable']) {
    await mkdir(join(folder, name, 'lib/multinic'), { recursive: true });
    await writeFile(join(folder, name, 'lib/multinic/main.mjs'), main);
  }
  await symlink(process.execPath, join(folder, 'command/lib/multinic/node'));
  const check = join(folder, 'portable/lib/multinic/node-version.cjs');
  await writeFile(check, nodeVersionCheck('>=24.18'));
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

/** Runs a script from the archive in a foreign working directory, with stub tools. */
function script(path: string, ...words: string[]): Promise<string> {
  const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env['PATH']}` };
  return run([join(site, path), ...words], { env, cwd: folder });
}

/** Runs `bin/multinic` from the archive for any platform with `node` on PATH; undefined: no node on PATH. */
async function runPortable(node: string | undefined): Promise<string> {
  const path = join(folder, 'path');
  await rm(path, { recursive: true, force: true });
  await mkdir(path);
  for (const tool of ['sh', 'dirname', 'readlink']) {
    await symlink((await run(['sh', '-c', `command -v ${tool}`])).trim(), join(path, tool));
  }
  if (node !== undefined) await symlink(node, join(path, 'node'));
  return run([join(anywhere, 'bin/multinic'), 'version', 'a b'], { env: { PATH: path } });
}

describe('bin/multinic in the archive for any platform', () => {
  it('bin/multinic runs the bundle with the Node.js on PATH', async () => {
    expect(await runPortable(process.execPath)).toBe('["version","a b"]\n');
  });

  it('bin/multinic names the required Node.js version when PATH has no or an older Node.js', async () => {
    expect(await runPortable(undefined).catch(complaintOf)).toContain('needs Node.js 24 on PATH');
    // An old Node.js: the current binary that prints an older version.
    await program('old-node', `exec '${process.execPath}' --require '${folder}/old.cjs' "$@"`);
    const old = `Object.defineProperty(process.versions, 'node', { value: '24.17.9' });`;
    await writeFile(join(folder, 'old.cjs'), old);
    expect(await runPortable(join(folder, 'bin/old-node')).catch(complaintOf)).toContain(
      'is Node.js 24.17.9; install 24.18 or later',
    );
  });
});

describe('from the archive, without the repository and without npm', () => {
  it.each(Object.entries(scripts))('%s installs the chart that came along', async (path, chart) => {
    const skip = path.startsWith('scripts/') ? ['--skip-build'] : [];
    await script(path, '--type', 'production', ...skip, '--dry-run');
    const called = await readFile(join(folder, 'helm'), 'utf8');
    expect(called).toContain(`${site}/charts/${chart} --namespace`);
    expect(called).toContain(`--values ${site}/charts/${chart}/values-production.yaml`);
  });

  it.each([
    ['deploy-operator.sh', '--build', 'omit --build'],
    ['scripts/build-and-deploy.sh', '--type=', 'pass --skip-build'],
  ])('%s reports that the archive has no sources for images', async (path, option, advice) => {
    const words = option === '--type=' ? ['--type', 'dev'] : [option];
    const said = await script(path, ...words, '--dry-run').catch(complaintOf);
    expect(said).toContain('this folder has no sources to build images from');
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
