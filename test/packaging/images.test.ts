import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { commitOf, versionOf } from '../../deploy/identity.ts';
import { adviceOn, type Snapshot } from '../../deploy/image/advisories.ts';
import { writeImageArchive } from '../../deploy/image/air-gap/image-archive.ts';
import { filesBelow } from '../../deploy/image/contents.ts';
import { stepsOf } from '../../deploy/image/engine.ts';
import {
  type Architecture,
  architectures,
  type BuildOptions,
  type BuiltImage,
  buildImages,
  ownArchitecture,
} from '../../deploy/image/images.ts';
import { toolPath } from '../../rig/control-plane/control-plane.ts';
import { type Buildah, startBuildah } from './images/buildah.ts';
import { startContainerd } from './images/containerd.ts';
import { contentOf, listing, type Unpacked, unpack } from './images/unpacked.ts';

const run = promisify(execFile);
const repository = join(import.meta.dirname, '../..');
const shorts = ['multinic-controllers', 'multinic-agent'] as const;
type Short = (typeof shorts)[number];
/** Bytes, two million below the goal: what grows is seen before it is too much. */
const largest = 48_000_000;
let folder: string;
let version: string;
let images: readonly BuiltImage[];
const unpacked = new Map<string, Unpacked>();

const options = (name: string, architecture: Architecture): BuildOptions => {
  const at = join(folder, name);
  return {
    architecture,
    version,
    repository: 'localhost',
    out: join(at, 'out'),
    work: join(at, 'work'),
  };
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'multinic-images-'));
  version = await versionOf(repository);
  images = [];
  for (const architecture of architectures) {
    images = [...images, ...(await buildImages(options('first', architecture)))];
  }
  for (const short of shorts) {
    for (const architecture of architectures) {
      const found = await unpack(fileOf(short, architecture), join(folder, short, architecture));
      for (const [of, image] of found) unpacked.set(`${short} ${of}`, image);
    }
  }
});

afterAll(() => rm(folder, { recursive: true }));

function fileOf(short: Short, architecture: Architecture): string {
  return join(folder, 'first/out', `${short}-${version}-linux-${architecture}.tar`);
}

function imageOf(short: Short, architecture: string = ownArchitecture): Unpacked {
  const image = unpacked.get(`${short} ${architecture}`);
  if (!image)
    throw new Error(`no ${short} for ${architecture} among ${[...unpacked.keys()].join(', ')}`);
  return image;
}

interface Sbom {
  readonly packages: readonly {
    readonly name: string;
    readonly versionInfo: string;
    readonly externalRefs: readonly { readonly referenceLocator: string }[];
  }[];
}

/** Packages of npm that an image says it holds. */
async function npmPackagesOf(short: Short) {
  const path = join(imageOf(short).root, 'usr/share/sbom/multinic.spdx.json');
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
const isVersion = /^multinic \S+\ncommit \S+\nagent protocols 1, 2, 3\nnode v24\./;
const all = shorts.flatMap((short) => architectures.map((one) => [short, one] as const));

describe.each(all)('the image %s for %s', (short, architecture) => {
  it('holds these files, and no others', async () => {
    const files = (await listing(imageOf(short, architecture).root)).replaceAll(
      triplets[architecture],
      '*',
    );
    await expect(files).toMatchFileSnapshot(`images/${short}.${architecture}.txt`);
  });

  it('has no shell, and nothing that gives rights', async () => {
    const { root } = imageOf(short, architecture);
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
    expect((await stat(fileOf(short, architecture))).size).toBeLessThan(largest);
  });
});

it.each(shorts)('the image %s starts', async (short) => {
  const { root } = imageOf(short);
  const { stdout } = await started(root, '/usr/local/bin/node', '/app/main.mjs', 'version');
  expect(stdout).toMatch(isVersion);
});

it.each(shorts)('the image %s for arm64 starts, emulated', async (short) => {
  const { root } = imageOf(short, 'arm64');
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
  const { root } = imageOf('multinic-controllers');
  const command = ['/usr/local/bin/node', '/app/main.mjs', part, '--help'];
  expect((await started(root, ...command)).stdout).toContain(`Usage: multinic ${part}`);
});

it.each(['operator', 'viola', 'controller', 'register-cluster'])(
  'the controllers’ image runs the %s as a user that it does not know, as OpenShift has it',
  async (part) => {
    const { root } = imageOf('multinic-controllers');
    const command = ['/usr/local/bin/node', '/app/main.mjs', part, '--help'];
    expect((await startedBy('1000650000:0', root, ...command)).stdout).toContain(
      `multinic ${part}`,
    );
  },
);

it('[RW-01] the agent’s image has an ip that finds its libraries', async () => {
  const isIp = /^ip utility, iproute2-/;
  expect((await started(imageOf('multinic-agent').root, '/bin/ip', '-V')).stdout).toMatch(isIp);
  const other = imageOf('multinic-agent', 'arm64').root;
  expect((await emulated(other, '/bin/ip', '-V')).stdout).toMatch(isIp);
});

it('both are the same, byte for byte, when they are built again by somebody else', async () => {
  const before = process.umask(0o077);
  vi.stubEnv('TZ', 'Asia/Seoul');
  const again = await buildImages(options('second time', ownArchitecture)).finally(() => {
    process.umask(before);
    vi.unstubAllEnvs();
  });
  const own = images.filter(({ file }) => file.includes(ownArchitecture));
  expect(again.map(({ name, id, digest }) => ({ name, id, digest }))).toEqual(
    own.map(({ name, id, digest }) => ({ name, id, digest })),
  );
  for (const [at, { file: one }] of own.entries()) {
    const other = again[at]?.file ?? '';
    expect((await readFile(one)).equals(await readFile(other))).toBe(true);
  }
});

describe('one file for a site without network', () => {
  let site: string;

  beforeAll(async () => {
    const work = join(folder, 'archive');
    const files = images.map(({ file }) => file);
    const made = { root: repository, version, images: files, work, out: work };
    await run('tar', ['-xzf', await writeImageArchive(made), '-C', folder]);
    site = join(folder, `multinic-${version}`);
  });

  it('is whole', async () => {
    await run('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: site });
  });

  it('has charts that helm installs from', async () => {
    for (const chart of ['multinic-operator', 'multinic-agent']) {
      const file = join(site, 'charts', `${chart}-${version}.tgz`);
      const { stdout } = await run(await toolPath('helm'), ['show', 'chart', file]);
      expect(stdout).toContain(`name: ${chart}\n`);
      const { stdout: values } = await run(await toolPath('helm'), ['show', 'values', file]);
      expect(values).toContain('imageRegistry');
    }
  });

  it('[RW-77] has images of which a node loads its own, and keeps them', async () => {
    await using containerd = await startContainerd(join(folder, 'containerd'));
    await expect
      .poll(() => containerd.images().catch(() => ''), { timeout: 30_000 })
      .toContain('REF');
    await run(join(site, 'load-images.sh'), ['--pin'], { env: containerd.env });
    const lines = (await containerd.images()).trim().split('\n').slice(1);
    const own = images.filter(({ file }) => file.endsWith(`-${ownArchitecture}.tar`));
    expect(lines).toHaveLength(own.length);
    for (const { name, digest } of own) {
      const line = lines.find((one) => one.startsWith(`${name} `));
      expect(line).toContain(digest);
      expect(line).toContain('io.cri-containerd.pinned=pinned');
    }
  });
});

describe('from its Dockerfile', () => {
  let buildah: Buildah;

  beforeAll(async () => {
    buildah = await startBuildah(join(folder, 'buildah'));
    const script = join(repository, 'deploy/image/docker-build.ts');
    const args = [script, '--img', 'test.invalid/multinic:9', '--engine', 'buildah'];
    await run(process.execPath, args, { env: buildah.env, maxBuffer: 2 ** 26 });
  });

  it.each(shorts)('%s has the same files, and is run in the same way', async (short) => {
    const file = join(folder, `${short}.oci.tar`);
    await buildah.save(`test.invalid/${short}:9`, file);
    const made = (await unpack(file, join(folder, `${short}.made`))).get(ownArchitecture);
    const { root, config } = imageOf(short);
    expect(await contentOf(made?.root ?? '')).toEqual(await contentOf(root));
    const { 'io.buildah.version': _, ...labels } = made?.config.config.Labels ?? {};
    expect({ ...made?.config.config, Labels: labels }).toEqual(config.config);
    expect(labels['org.opencontainers.image.revision']).toBe(await commitOf(repository));
  });

  it('each architecture gets its own files where several are built', async () => {
    const context = join(folder, 'context');
    for (const architecture of architectures) {
      const place = join(context, architecture);
      for (const empty of ['tools', 'multinic-agent'])
        await mkdir(join(place, empty), { recursive: true });
      const etc = join(imageOf('multinic-agent', architecture).root, 'usr/share/sbom');
      await cp(etc, join(place, 'base'), { recursive: true });
    }
    const archive = join(folder, 'several.tar');
    const dockerfile = join(repository, 'deploy/image/Dockerfile.agent');
    const steps = stepsOf({
      engine: 'buildah',
      image: 'test.invalid/multinic-agent:several',
      architectures,
      dockerfile,
      context,
      version,
      revision: 'none',
      push: false,
      archive,
    });
    for (const { command, mayFail = false } of steps) {
      const [program, ...words] = command;
      const done = run(program, words, { env: buildah.env });
      await (mayFail ? Promise.allSettled([done]) : done);
    }
    const made = await unpack(archive, join(folder, 'several'));
    expect([...made.keys()].toSorted()).toEqual(['amd64', 'arm64']);
    for (const [architecture, { root }] of made) {
      const sbom = await readFile(join(root, 'multinic.spdx.json'), 'utf8');
      expect(sbom).toContain(`arch=${architecture}&`);
    }
  });
});
