import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { run } from './command.ts';
import type { Architecture } from './debian.ts';
import { digestOf, type Layer, reproducibly } from './layer.ts';
import { putWhole } from './workplace.ts';

/** Image for an architecture. */
export interface Image {
  /** Repository and tag, such as `multinic-agent:1.2.3`. */
  readonly name: string;
  readonly architecture: Architecture;
  readonly layers: readonly Layer[];
  readonly config: ImageConfig;
}

/** Subset of the OCI image configuration for running a container. */
export interface ImageConfig {
  readonly User: string;
  readonly Entrypoint: readonly string[];
  readonly Env: readonly string[];
  readonly WorkingDir: string;
  readonly Labels: Readonly<Record<string, string>>;
}

interface Written {
  /** Digest of the configuration, in Kubernetes the imageID. */
  readonly id: string;
  readonly digest: string;
  /** Compressed size in bytes over all layers. */
  readonly size: number;
}

const media = 'application/vnd.oci.image';
/** Reproducible: equal input gives an equal image, because the build time is not written. */
const created = '1970-01-01T00:00:00Z';

/**
 * Writes an image as an OCI layout in a tar archive with an index for older engines: for `docker load`, `ctr image import`, `podman load`
 * and `skopeo copy oci-archive:`. `work` is a scratch folder.
 */
export async function writeImage(out: string, image: Image, work: string): Promise<Written> {
  await rm(work, { recursive: true, force: true });
  const blobs = join(work, 'blobs/sha256');
  await mkdir(blobs, { recursive: true });
  const put = async (content: string | Buffer) => {
    const digest = digestOf(content);
    await writeFile(join(blobs, digest.slice('sha256:'.length)), content);
    return { digest, size: Buffer.byteLength(content) };
  };
  const config = await put(configOf(image));
  const layers = await Promise.all(image.layers.map(({ blob }) => put(blob)));
  const manifest = await put(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: `${media}.manifest.v1+json`,
      config: { mediaType: `${media}.config.v1+json`, ...config },
      layers: layers.map((layer) => ({ mediaType: `${media}.layer.v1.tar+gzip`, ...layer })),
    }),
  );
  await writeFile(join(work, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  await writeFile(join(work, 'index.json'), indexOf(image, manifest));
  const older = { Config: place(config), RepoTags: [image.name], Layers: layers.map(place) };
  await writeFile(join(work, 'manifest.json'), JSON.stringify([older]));
  await mkdir(dirname(out), { recursive: true });
  const modes = '--mode=u=rwX,go=rX';
  await putWhole(out, async (path) => {
    await run(['tar', ...reproducibly, modes, '-C', work, '-cf', path, '.']);
  });
  const size = layers.reduce((sum, layer) => sum + layer.size, 0);
  return { id: config.digest, digest: manifest.digest, size };
}

function place({ digest }: { readonly digest: string }): string {
  return `blobs/${digest.replace(':', '/')}`;
}

function configOf({ architecture, config, layers }: Image): string {
  return JSON.stringify({
    created,
    architecture,
    os: 'linux',
    ...(architecture === 'arm64' ? { variant: 'v8' } : {}),
    config,
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(() => ({ created, created_by: 'build/image' })),
  });
}

function indexOf({ name, architecture }: Image, manifest: object): string {
  const tag = name.slice(name.lastIndexOf(':') + 1);
  const entry = {
    mediaType: `${media}.manifest.v1+json`,
    ...manifest,
    platform: { architecture, os: 'linux' },
    annotations: { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': tag },
  };
  const mediaType = `${media}.index.v1+json`;
  return JSON.stringify({ schemaVersion: 2, mediaType, manifests: [entry] });
}
