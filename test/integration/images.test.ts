import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filesBelow } from '../../deploy/image/contents.ts';
import {
  type BuildOptions,
  type BuiltImage,
  buildImages,
  ownArchitecture,
} from '../../deploy/image/images.ts';

const run = promisify(execFile);
const shorts = ['multinic-controllers', 'multinic-agent'] as const;
const largest = 50_000_000;
let folder: string;
let images: readonly BuiltImage[];

function options(name: string, more: Partial<BuildOptions> = {}): BuildOptions {
  const at = join(folder, name);
  const own = { architecture: ownArchitecture, version: '1.2.3', repository: 'localhost' };
  return { ...own, out: join(at, 'out'), work: join(at, 'work'), ...more };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'multinic-images-'));
  images = await buildImages(options('first'));
  for (const short of shorts) await unpack(short);
});

afterAll(() => rm(folder, { recursive: true }));

function rootOf(short: string): string {
  return join(folder, short);
}

function file(short: string): string {
  const image = images.find(({ name }) => name === `localhost/${short}:1.2.3`);
  if (!image) throw new Error(`no ${short} among ${images.map(({ name }) => name).join(', ')}`);
  return image.file;
}

/** The files of an image, as a runtime would put them together; links are not followed. */
async function unpack(short: string): Promise<void> {
  const root = rootOf(short);
  const layout = `${root}.layout`;
  for (const place of [root, layout]) await mkdir(place, { recursive: true });
  await run('tar', ['-xf', file(short), '-C', layout]);
  const text = await readFile(join(layout, 'manifest.json'), 'utf8');
  const [{ Layers: layers }] = JSON.parse(text) as [{ Layers: string[] }];
  for (const layer of layers) await run('tar', ['-xpzf', join(layout, layer), '-C', root]);
}

/** Without what changes with each of our commits, or of those of a package. */
async function listing(root: string): Promise<string> {
  const paths = await filesBelow(root);
  const kept = paths.map((path) =>
    path
      .replace(/^\/app\/.*-[0-9A-Z]{8}\.mjs(\.LEGAL\.txt)?$/, '/app/*.mjs')
      .replace(/^\/app\/static\/.*$/, '/app/static/*')
      .replace(/(\.so[.\d]*?|libelf-)\d+[\d.]*(\.so)?$/, '$1*$2')
      .replace(/^(\/usr\/share\/licenses)\/(?!multinic|node\/).*$/, '$1/*'),
  );
  return `${[...new Set(kept)].join('\n')}\n`;
}

/** A program of an image, as somebody without rights, and without what an engine mounts. */
function started(root: string, ...command: string[]) {
  return run('chroot', ['--userspec=65532:65532', root, ...command], {
    env: { PATH: '/usr/sbin:/usr/bin:/bin' },
  });
}

const triplet = ownArchitecture === 'amd64' ? 'x86_64-linux-gnu' : 'aarch64-linux-gnu';

describe.each(shorts)('the image %s', (short) => {
  it('holds these files, and no others', async () => {
    const files = (await listing(rootOf(short))).replaceAll(triplet, '*');
    await expect(files).toMatchFileSnapshot(`images/${short}.${ownArchitecture}.txt`);
  });

  it('has no shell, and nothing that gives rights', async () => {
    const root = rootOf(short);
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
    expect((await stat(file(short))).size).toBeLessThan(largest);
  });

  it('starts', async () => {
    const root = rootOf(short);
    const { stdout } = await started(root, '/usr/local/bin/node', '/app/main.mjs', 'version');
    expect(stdout).toMatch(/^multinic \S+\ncommit \S+\nagent protocols 1, 2\nnode v24\./);
  });
});

it.each(['operator', 'viola', 'controller'])('the controllers’ image runs the %s', async (part) => {
  const root = rootOf('multinic-controllers');
  const command = ['/usr/local/bin/node', '/app/main.mjs', part, '--help'];
  expect((await started(root, ...command)).stdout).toContain(`Usage: multinic ${part}`);
});

it('the agent’s image has an ip that finds its libraries', async () => {
  const root = rootOf('multinic-agent');
  expect((await started(root, '/bin/ip', '-V')).stdout).toMatch(/^ip utility, iproute2-/);
});

it('both are the same, byte for byte, when they are built again', async () => {
  const again = await buildImages(options('second'));
  expect(again.map(({ name, id, digest }) => ({ name, id, digest }))).toEqual(
    images.map(({ name, id, digest }) => ({ name, id, digest })),
  );
  for (const [at, { file: one }] of images.entries()) {
    const other = again[at]?.file ?? '';
    expect((await readFile(one)).equals(await readFile(other))).toBe(true);
  }
});
