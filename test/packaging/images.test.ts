import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { entryPoint } from '../../build/entry-point.ts';
import { adviceOn, type Snapshot } from '../../build/image/advisories.ts';
import { layOutRecordedHost } from '../../build/image/agent-snapshot/snapshot.ts';
import { filesBelow } from '../../build/image/contents.ts';
import { stepsOf } from '../../build/image/engine.ts';
import { architectures, ownArchitecture } from '../../build/image/images.ts';
import { layOutCommand, layOutPortableCommand } from '../../build/image/release/command-folder.ts';
import { writeReleaseArchive } from '../../build/image/release/release.ts';
import { toolPath } from '../../rig/control-plane/control-plane.ts';
import { scaled } from '../speed.ts';
import { startBuildah } from './images/buildah.ts';
import { type Built, buildAndUnpack, repository, run, type Short, shorts } from './images/built.ts';
import { startContainerd } from './images/containerd.ts';
import { listing, unpack } from './images/unpacked.ts';

/** Bytes, below the 50 MB in the installation guide. */
const largest = 49_000_000;
let built: Built;

beforeAll(async () => {
  built = await buildAndUnpack(architectures);
});

afterAll(() => built?.[Symbol.asyncDispose]());

interface Sbom {
  readonly packages: readonly {
    readonly name: string;
    readonly versionInfo: string;
    readonly externalRefs: readonly { readonly referenceLocator: string }[];
  }[];
}

/** Packages of npm that an image says it holds. */
async function npmPackagesOf(short: Short) {
  const path = join(built.imageOf(short).root, 'usr/share/sbom/multinic.spdx.json');
  const { packages } = JSON.parse(await readFile(path, 'utf8')) as Sbom;
  return packages
    .filter(({ externalRefs: [ref] }) => ref?.referenceLocator.startsWith('pkg:npm/'))
    .map(({ name, versionInfo }) => ({ name, version: versionInfo }));
}

/** What was known when packages were looked up last. */
async function snapshot(): Promise<Snapshot> {
  const place = join(import.meta.dirname, 'images');
  const [file = '', ...others] = (await readdir(place)).filter((name) =>
    name.startsWith('advisories-'),
  );
  const read = JSON.parse(await readFile(join(place, file), 'utf8')) as Snapshot;
  expect([others, file]).toEqual([[], `advisories-${read.date}.json`]);
  return read;
}

/** A program of an image, as somebody without rights, and without what an engine mounts. */
function started(root: string, ...command: string[]) {
  return startedBy('65532:65532', root, ...command);
}

function startedBy(user: string, root: string, ...command: string[]) {
  return run('chroot', [`--userspec=${user}`, root, ...command], {
    env: { PATH: '/usr/sbin:/usr/bin:/bin' },
  });
}

/** The same for an architecture that this machine has not. */
function emulated(root: string, ...[program = '', ...words]: string[]) {
  const emulator = join(repository, 'rig/unpacked/unpacked');
  return run(emulator, ['run', 'qemu-aarch64-static', '-L', root, join(root, program), ...words]);
}

const triplets = { amd64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' } as const;
const isVersion = /^multinic \S+\ncommit \S+\nagent protocols 1, 2, 3, 4, 5, 6\nnode v24\./;
const all = shorts.flatMap((short) => architectures.map((one) => [short, one] as const));

describe.each(all)('the image %s for %s', (short, architecture) => {
  it('holds these files, and no others', async () => {
    const files = (await listing(built.imageOf(short, architecture).root)).replaceAll(
      triplets[architecture],
      '*',
    );
    await expect(files).toMatchFileSnapshot(`images/${short}.${architecture}.txt`);
  });

  it('has no shell, and nothing that gives rights', async () => {
    const { root } = built.imageOf(short, architecture);
    for (const path of await filesBelow(root)) {
      expect(path).not.toMatch(/\/(ba|da|z|a|k)?sh$|busybox|\/su(do)?$/);
    }
    const entries = await readdir(root, { recursive: true, withFileTypes: true });
    const paths = entries
      .filter((entry) => !entry.isSymbolicLink())
      .map(({ parentPath, name }) => join(parentPath, name));
    expect(paths.length).toBeGreaterThan(20);
    for (const path of paths) {
      const { mode, uid, gid } = await stat(path);
      expect([path, mode & 0o6000, uid, gid]).toEqual([path, 0, 0, 0]);
      if (path !== join(root, 'tmp')) expect([path, mode & 0o022]).toEqual([path, 0]);
    }
  });

  it('is small enough for a slow line', async () => {
    expect((await stat(built.fileOf(short, architecture))).size).toBeLessThan(largest);
  });
});

it.each(shorts)('the image %s starts', async (short) => {
  const { root } = built.imageOf(short);
  const { stdout } = await started(root, '/usr/local/bin/node', '/app/main.mjs', 'version');
  expect(stdout).toMatch(isVersion);
});

it.each(shorts)('the image %s for arm64 starts, emulated', async (short) => {
  const { root } = built.imageOf(short, 'arm64');
  const main = join(root, 'app/main.mjs');
  expect((await emulated(root, '/usr/local/bin/node', main, 'version')).stdout).toMatch(isVersion);
  const { stdout } = await emulated(root, '/usr/local/bin/node', '-p', 'process.arch');
  expect(stdout).toBe('arm64\n');
});

it.each(shorts)('nothing is known against what the image %s holds of npm', async (short) => {
  const known = await snapshot();
  const packages = await npmPackagesOf(short);
  expect(packages.map(({ name }) => name)).toContain('zod');
  expect(adviceOn(packages, known)).toEqual([]);
  const planted = { url: '', title: 'planted', severity: 'high', vulnerable_versions: '>=4.0.0' };
  expect(adviceOn(packages, { ...known, advisories: { zod: [planted] } })).toHaveLength(1);
});

it.each(['operator', 'viola', 'controller'])('the controllers’ image runs the %s', async (part) => {
  const { root } = built.imageOf('multinic-controllers');
  const command = ['/usr/local/bin/node', '/app/main.mjs', part, '--help'];
  expect((await started(root, ...command)).stdout).toContain(`Usage: multinic ${part}`);
});

it.each(['operator', 'viola', 'controller', 'register-cluster'])(
  'the controllers’ image runs the %s as a user that it does not know, as OpenShift has it',
  async (part) => {
    const { root } = built.imageOf('multinic-controllers');
    const command = ['/usr/local/bin/node', '/app/main.mjs', part, '--help'];
    expect((await startedBy('1000650000:0', root, ...command)).stdout).toContain(
      `multinic ${part}`,
    );
  },
);

it.each([
  ['/bin/ip', /^ip utility, iproute2-/],
  ['/sbin/bridge', /^bridge utility, \d/],
] as const)('[RW-01] the agent’s image has a %s that finds its libraries', async (tool, words) => {
  const { root } = built.imageOf('multinic-agent');
  expect((await started(root, tool, '-V')).stdout).toMatch(words);
  const other = built.imageOf('multinic-agent', 'arm64').root;
  expect((await emulated(other, tool, '-V')).stdout).toMatch(words);
});

describe('one file for a site without network', () => {
  let site: string;

  beforeAll(async () => {
    const work = join(built.folder, 'archive');
    const [controllers] = built.images;
    if (!controllers) throw new Error('no image was built');
    const architecture = 'amd64';
    const { version } = built;
    const [options, place] = [{ version, controllers }, join(built.folder, 'command')];
    const commands = [
      await layOutCommand({ architecture, ...options, folder: `${place}/linux` }),
      await layOutPortableCommand({ ...options, folder: `${place}/any` }),
    ];
    const images = built.images.map((image) => ({ ...image, sbom: '{}' }));
    const release = { root: repository, version, images, commands, work };
    await run('tar', ['-xzf', await writeReleaseArchive(work, release), '-C', built.folder]);
    site = join(built.folder, `multinic-release-${version}`);
  });

  it('is whole', async () => {
    await run('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: site });
  });

  it('has charts that helm installs from', async () => {
    for (const chart of ['multinic-operator', 'multinic-agent']) {
      const file = join(site, 'charts', `${chart}-${built.version}.tgz`);
      const { stdout } = await run(await toolPath('helm'), ['show', 'chart', file]);
      expect(stdout).toContain(`name: ${chart}\n`);
      const { stdout: values } = await run(await toolPath('helm'), ['show', 'values', file]);
      expect(values).toContain('imageRegistry');
      const pins = ['global.pinDigests=true', `global.imageArchitecture=${ownArchitecture}`];
      const words = ['template', file, ...pins.flatMap((pin) => ['--set', pin])];
      const { stdout: rendered } = await run(await toolPath('helm'), words);
      const [controllers] = built.images.filter((image) => image.architecture === ownArchitecture);
      expect(rendered).toContain(`image: ${controllers?.name}@${controllers?.digest}\n`);
    }
  });

  it.runIf(ownArchitecture === 'amd64').each([
    ['linux-amd64', 'that needs no Node.js', '/usr/bin:/bin', ['multinic', 'node', 'zod']],
    ['any', 'without Node.js', `${dirname(process.execPath)}:/usr/bin:/bin`, ['multinic', 'zod']],
  ])('has a command line for %s %s', async (platform, _what, path, components) => {
    const [name, folder] = [`multinic-${built.version}`, join(built.folder, platform)];
    await mkdir(folder);
    await run('tar', ['-xzf', join(site, `${name}-${platform}.tar.gz`), '-C', folder]);
    const options = { cwd: join(folder, name), env: { PATH: path } };
    expect((await run('bin/multinic', ['version'], options)).stdout).toMatch(isVersion);
    const sbom = await readFile(join(site, `sbom/${name}-${platform}.spdx.json`), 'utf8');
    const names = (JSON.parse(sbom) as Sbom).packages.map((each) => each.name);
    const some = ['multinic', 'node', 'zod', 'libc6'].filter((each) => names.includes(each));
    expect(some).toEqual(components);
  });

  it('[RW-77] has images of which a node loads its own, and keeps them', async () => {
    await using containerd = await startContainerd(join(built.folder, 'containerd'));
    await expect
      .poll(() => containerd.images().catch(() => ''), { timeout: scaled(30_000) })
      .toContain('REF');
    await run(join(site, 'load-images.sh'), ['--pin'], { env: containerd.env });
    const lines = (await containerd.images()).trim().split('\n').slice(1);
    const own = built.images.filter(({ file }) => file.endsWith(`-${ownArchitecture}.tar`));
    expect(lines).toHaveLength(own.length);
    for (const { name, digest } of own) {
      const line = lines.find((one) => one.startsWith(`${name} `));
      expect(line).toContain(digest);
      expect(line).toContain('io.cri-containerd.pinned=pinned');
    }
  });
});

/** The plan of a dry run in a network namespace with the node's own link alone, by a command of the image. */
async function planned(command: readonly string[]): Promise<unknown> {
  const { root } = built.imageOf('multinic-agent');
  const place = await mkdtemp(join(root, 'tmp/recorded-'));
  try {
    await layOutRecordedHost(place);
    const inside = place.slice(root.length);
    const script = `ip link add eth0 index 102 address 02:00:00:00:00:01 type veth peer name peer0
      ip address add 10.200.0.2/16 dev eth0
      mount --rbind /proc "$1/proc"
      exec chroot "$@"`;
    const words = ['--mount', '--net', 'sh', '-ec', script, 'sh', root, ...command];
    const options = ['--request', `${inside}/request`, '--host-root', `${inside}/host`];
    const { stdout } = await run('unshare', [...words, ...options, '--dry-run']);
    return JSON.parse(stdout);
  } finally {
    await rm(place, { recursive: true });
  }
}

describe.runIf(ownArchitecture === 'amd64')('the agent’s startup snapshot', () => {
  it('plans as the bundle does, in the network namespace and with the files of the start', async () => {
    const { config } = built.imageOf('multinic-agent').config;
    expect(config.Entrypoint).toContain('--snapshot-blob=/app/agent.blob');
    const plan = await planned(config.Entrypoint);
    expect(plan).toEqual(await planned(entryPoint('agent').command));
    // The recorded host of the build has these NICs, this namespace has none.
    expect(JSON.stringify(plan)).toContain('WaitingForNIC');
    expect(JSON.stringify(plan)).not.toContain('link.rename');
  });

  it('is refused by another Node.js, by name', async () => {
    const { root } = built.imageOf('multinic-agent');
    const blob = join(built.folder, 'other.blob');
    const own = await readFile(join(root, 'app/agent.blob'), 'latin1');
    const other = process.version.replace(/\d$/, (digit) => `${(Number(digit) + 1) % 10}`);
    await writeFile(blob, own.replace(process.version.slice(1), other.slice(1)), 'latin1');
    const start = run(join(root, 'usr/local/bin/node'), [`--snapshot-blob=${blob}`, 'agent']);
    await expect(start).rejects.toThrow(/built with ?Node\.js version/);
  });
});

it('each architecture gets its own files where its Dockerfile builds several', async () => {
  const buildah = await startBuildah(join(built.folder, 'buildah'));
  const context = join(built.folder, 'context');
  for (const architecture of architectures) {
    const place = join(context, architecture);
    for (const empty of ['tools', 'multinic-agent', 'snapshot'])
      await mkdir(join(place, empty), { recursive: true });
    const etc = join(built.imageOf('multinic-agent', architecture).root, 'usr/share/sbom');
    await cp(etc, join(place, 'base'), { recursive: true });
  }
  const archive = join(built.folder, 'several.tar');
  const dockerfile = join(repository, 'build/image/Dockerfile.agent');
  const steps = stepsOf({
    engine: 'buildah',
    image: 'test.invalid/multinic-agent:several',
    architectures,
    dockerfile,
    context,
    version: built.version,
    revision: 'none',
    push: false,
    archive,
  });
  for (const { command, mayFail = false } of steps) {
    const [program, ...words] = command;
    const done = run(program, words, { env: buildah.env });
    await (mayFail ? Promise.allSettled([done]) : done);
  }
  const made = await unpack(archive, join(built.folder, 'several'));
  expect([...made.keys()].toSorted()).toEqual(['amd64', 'arm64']);
  for (const [architecture, { root }] of made) {
    const sbom = await readFile(join(root, 'multinic.spdx.json'), 'utf8');
    expect(sbom).toContain(`arch=${architecture}&`);
  }
});
