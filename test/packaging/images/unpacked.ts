import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../../build/image/command.ts';
import { filesBelow } from '../../../build/image/contents.ts';

interface Descriptor {
  readonly digest: string;
  readonly platform?: { readonly architecture: string };
}

/** What an image says of how it is run. */
interface Config {
  readonly architecture: string;
  readonly config: {
    readonly User: string;
    readonly Env: readonly string[];
    readonly Entrypoint: readonly string[];
    readonly WorkingDir: string;
    readonly Labels: Readonly<Record<string, string>>;
  };
}

/** One image of an archive in OCI's layout. */
export interface Unpacked {
  /** Its files, as a runtime would put them together. */
  readonly root: string;
  readonly config: Config;
}

/** Unpacks every image of an archive, by architecture, into folders of `into`. */
export async function unpack(file: string, into: string): Promise<ReadonlyMap<string, Unpacked>> {
  const layout = join(into, 'layout');
  await mkdir(layout, { recursive: true });
  await run(['tar', '-xf', file, '-C', layout]);
  const json = async <T>(path: string) =>
    JSON.parse(await readFile(join(layout, path), 'utf8')) as T;
  const manifestsIn = async (path: string): Promise<readonly Descriptor[]> => {
    const { manifests } = await json<{ manifests?: readonly Descriptor[] }>(path);
    // An index of images may lie within that of the archive.
    const inner = await Promise.all((manifests ?? []).map((one) => manifestsIn(place(one))));
    return (manifests ?? []).flatMap((one, at) => (inner[at]?.length ? inner[at] : [one]));
  };
  const found = new Map<string, Unpacked>();
  for (const descriptor of await manifestsIn('index.json')) {
    const manifest = await json<{ config: Descriptor; layers: readonly Descriptor[] }>(
      place(descriptor),
    );
    const config = await json<Config>(place(manifest.config));
    const root = join(into, config.architecture);
    await mkdir(root, { recursive: true });
    for (const layer of manifest.layers) {
      await run(['tar', '-xpzf', join(layout, place(layer)), '-C', root]);
    }
    found.set(config.architecture, { root, config });
  }
  return found;
}

function place({ digest }: Descriptor): string {
  return `blobs/${digest.replace(':', '/')}`;
}

/** Digests of the layers of an archive's only image, the lowest first. */
export async function layersOf(file: string): Promise<readonly string[]> {
  const json = async <T>(path: string) =>
    JSON.parse(await run(['tar', '-xOf', file, `./${path}`])) as T;
  const { manifests } = await json<{ manifests: [Descriptor] }>('index.json');
  const { layers } = await json<{ layers: readonly Descriptor[] }>(place(manifests[0]));
  return layers.map(({ digest }) => digest);
}

/** Files of an image, without what changes with each of our commits, or of those of a package. */
export async function listing(root: string): Promise<string> {
  const paths = await filesBelow(root);
  const kept = paths.map((path) =>
    path
      .replace(/^(\/app\/web\/\w+)-[0-9A-Z]{8}\./, '$1.')
      .replace(/^\/app\/.*-[0-9A-Z]{8}\.mjs(\.LEGAL\.txt)?$/, '/app/*.mjs')
      .replace(/^\/app\/static\/.*$/, '/app/static/*')
      .replace(/(\.so[.\d]*?|libelf-)\d+[\d.]*(\.so)?$/, '$1*$2')
      .replace(/^(\/usr\/share\/licenses)\/(?!multinic|node\/).*$/, '$1/*'),
  );
  return `${[...new Set(kept)].join('\n')}\n`;
}

/** Everything that a tree holds, with its rights, owner and content; only its times are left out. */
export async function contentOf(root: string): Promise<readonly string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name)).toSorted();
  return Promise.all(
    paths.map(async (path) => {
      const stats = await lstat(path);
      const owner = `${stats.mode.toString(8)} ${stats.uid}:${stats.gid}`;
      return `${path.slice(root.length)} ${owner} ${await whatIsIn(path, stats)}`;
    }),
  );
}

type Stats = Awaited<ReturnType<typeof lstat>>;

async function whatIsIn(path: string, stats: Stats): Promise<string> {
  if (stats.isDirectory()) return '';
  if (stats.isSymbolicLink()) return `-> ${await readlink(path)}`;
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}
