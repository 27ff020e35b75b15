import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Image, writeImage } from './archive.ts';
import { run } from './command.ts';
import { filesBelow, putAccounts, putFile } from './contents.ts';
import { digestOf, packLayer } from './layer.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'multinic-archive-'));
});

afterEach(() => rm(folder, { recursive: true }));

/** An image with a single layer; the image configuration is equal for all contents. */
async function build(name: string, { at, mode, folders }: Made) {
  const source = join(folder, `${name}-tool`);
  await writeFile(source, 'tool');
  await chmod(source, mode);
  const root = join(folder, name);
  await putAccounts(root);
  await putFile(root, '/usr/bin/tool', source);
  await symlink('tool', join(root, 'usr/bin/link'));
  for (const path of ['', 'usr', 'usr/bin', 'etc']) await chmod(join(root, path), folders);
  for (const path of await filesBelow(root)) {
    if (!path.endsWith('link')) await utimes(join(root, path), at, at);
  }
  const image: Image = {
    name: 'registry.example.com:5000/team/tool:1.2.3',
    architecture: 'arm64',
    layers: [await packLayer(root, join(folder, `${name}.layer`))],
    config: {
      User: '65532:65532',
      Entrypoint: ['/usr/bin/tool'],
      Env: ['A=b'],
      WorkingDir: '/',
      Labels: {},
    },
  };
  const out = join(folder, `${name}.tar`);
  return { out, written: await writeImage(out, image, join(folder, 'work')) };
}

interface Made {
  readonly at: Date;
  readonly mode: number;
  readonly folders: number;
}

const early: Made = { at: new Date('2020-01-01'), mode: 0o700, folders: 0o755 };

it('an image is byte-identical when equal files have different times and rights', async () => {
  const first = await build('first', early);
  const second = await build('second', {
    at: new Date('2026-01-01'),
    mode: 0o4755,
    // Modes under umask 077.
    folders: 0o700,
  });
  expect(second.written).toEqual(first.written);
  expect((await readFile(second.out)).equals(await readFile(first.out))).toBe(true);
});

it('a full disk leaves the archive from the earlier build intact', async () => {
  const { out } = await build('image', early);
  const before = await readFile(out);
  const tool = join(folder, 'bin/tar');
  await mkdir(join(folder, 'bin'));
  await writeFile(
    tool,
    '#!/bin/sh\nwhile [ "$1" != -cf ]; do shift; done\nprintf half >"$2"\nexit 2\n',
  );
  await chmod(tool, 0o755);
  const files = await readdir(folder);
  const layer = { blob: Buffer.from(''), digest: digestOf(''), diffId: digestOf('') };
  const config = { User: '', Entrypoint: [], Env: [], WorkingDir: '/', Labels: {} };
  const image: Image = { name: 'tool:1', architecture: 'amd64', layers: [layer], config };
  vi.stubEnv('PATH', `${join(folder, 'bin')}:${process.env['PATH']}`);
  const failing = writeImage(out, image, join(folder, 'work')).finally(() => vi.unstubAllEnvs());
  await expect(failing).rejects.toThrow('tar');
  expect((await readFile(out)).equals(before)).toBe(true);
  expect(await readdir(folder)).toEqual(files);
});

interface Descriptor {
  readonly digest: string;
  readonly size: number;
}

it("the archive's contents match the digests, for old and new engines", async () => {
  const { out, written } = await build('image', early);
  const layout = join(folder, 'layout');
  await mkdir(layout);
  await run(['tar', '-xf', out, '-C', layout]);
  const read = async (path: string) => readFile(join(layout, path));
  const json = async <T>(path: string) => JSON.parse((await read(path)).toString()) as T;
  const blob = async ({ digest, size }: Descriptor) => {
    const content = await read(`blobs/${digest.replace(':', '/')}`);
    expect([digestOf(content), content.length]).toEqual([digest, size]);
    return content;
  };
  expect(await json('oci-layout')).toEqual({ imageLayoutVersion: '1.0.0' });
  const index = await json<{ manifests: (Descriptor & object)[] }>('index.json');
  const [entry] = index.manifests as [Descriptor];
  expect(entry).toMatchObject({
    digest: written.digest,
    platform: { architecture: 'arm64', os: 'linux' },
    annotations: {
      'io.containerd.image.name': 'registry.example.com:5000/team/tool:1.2.3',
      'org.opencontainers.image.ref.name': '1.2.3',
    },
  });
  const manifest = JSON.parse((await blob(entry)).toString()) as {
    config: Descriptor;
    layers: [Descriptor];
  };
  const config = (await blob(manifest.config)).toString();
  expect(manifest.config.digest).toBe(written.id);
  const layer = await blob(manifest.layers[0]);
  expect(JSON.parse(config)).toMatchObject({
    created: '1970-01-01T00:00:00Z',
    os: 'linux',
    architecture: 'arm64',
    variant: 'v8',
    config: { User: '65532:65532', Entrypoint: ['/usr/bin/tool'] },
    rootfs: { type: 'layers', diff_ids: [digestOf(gunzipSync(layer))] },
  });
  const place = ({ digest }: Descriptor) => `blobs/${digest.replace(':', '/')}`;
  expect(await json('manifest.json')).toEqual([
    {
      Config: place(manifest.config),
      RepoTags: ['registry.example.com:5000/team/tool:1.2.3'],
      Layers: manifest.layers.map(place),
    },
  ]);
});

it('files belong to root, are writable only by root, and links stay links', async () => {
  await build('image', { at: new Date(), mode: 0o6777, folders: 0o700 });
  const scratch = join(folder, 'again');
  const { blob } = await packLayer(join(folder, 'image'), scratch);
  await writeFile(scratch, gunzipSync(blob));
  const listed = await run(['tar', '--numeric-owner', '-tvf', scratch]);
  expect(listed).toMatch(/^-rwxr-xr-x 0\/0 +4 1970-01-01 00:00 \.\/usr\/bin\/tool$/m);
  expect(listed).toMatch(/^l\S+ 0\/0 +0 1970-01-01 00:00 \.\/usr\/bin\/link -> tool$/m);
  expect(listed).toMatch(/^drwxr-xr-x 0\/0 .* \.\/usr\/bin\/$/m);
  expect(listed).toMatch(/^drwxrwxrwt 0\/0 .* \.\/tmp\/$/m);
});

it('files are sorted by name and have no user names', async () => {
  const root = join(folder, 'order');
  await mkdir(root);
  // More than a folder gives back in this order by chance.
  const names = Array.from({ length: 40 }, (_, at) => `file-${(at * 17) % 40}`);
  for (const name of names) await writeFile(join(root, name), '');
  const archive = gunzipSync((await packLayer(root, join(folder, 'order.tar'))).blob);
  const headers = [...archive.toString('latin1').matchAll(/\.\/(file-\d+)\0/g)];
  expect(headers.map(([, name]) => name)).toEqual(names.toSorted());
  // Names of user and group in the first header, see tar(5).
  expect(archive.subarray(265, 265 + 64).every((byte) => byte === 0)).toBe(true);
});
