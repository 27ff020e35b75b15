import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { configMaps, type Pod, secrets } from '../../src/kube/core-resources.ts';

type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number];
type Item = { readonly key: string; readonly path: string };

/** A volume as a folder of this machine. */
export interface Mounted {
  readonly mountPath: string;
  readonly folder: string;
}

export interface VolumesOptions {
  readonly client: Pick<KubeClient, 'find'>;
  /** Folder of the Pod. */
  readonly own: string;
  /** Folder of what outlives Pods. */
  readonly lasting: string;
}

/** Makes the volumes of a Pod, or brings them up to date; throws in the kubelet's words while an object is missing. */
export async function mountVolumes(pod: Pod, options: VolumesOptions): Promise<Mounted[]> {
  const { volumes = [], containers } = pod.spec ?? {};
  const folders = new Map<string, string>();
  for (const volume of volumes) folders.set(volume.name, await fill(pod, volume, options));
  const mounts = containers?.[0]?.volumeMounts ?? [];
  return mounts.flatMap(({ name, mountPath }) => {
    const folder = folders.get(name);
    return folder === undefined ? [] : [{ mountPath, folder }];
  });
}

async function fill(
  { metadata: { namespace = '' } }: Pod,
  volume: Volume,
  { client, own, lasting }: VolumesOptions,
): Promise<string> {
  const claim = volume.persistentVolumeClaim?.claimName;
  const folder = claim ? join(lasting, namespace, claim) : join(own, 'volumes', volume.name);
  await mkdir(folder, { recursive: true });
  const files = await contents(client, namespace, volume);
  if (files) await writeFiles(folder, files);
  return folder;
}

/** What the files hold; undefined when the volume is none of an object. */
async function contents(
  client: Pick<KubeClient, 'find'>,
  namespace: string,
  { secret, configMap }: Volume,
): Promise<ReadonlyMap<string, Buffer> | undefined> {
  if (secret?.secretName) {
    const found = await client.find(secrets, { namespace, name: secret.secretName });
    if (!found) throw new Error(`secret "${secret.secretName}" not found`);
    return chosen(found.data ?? {}, secret.items, (text) => Buffer.from(text, 'base64'));
  }
  if (configMap?.name) {
    const found = await client.find(configMaps, { namespace, name: configMap.name });
    if (!found) throw new Error(`configmap "${configMap.name}" not found`);
    return chosen(found.data ?? {}, configMap.items, (text) => Buffer.from(text));
  }
  return undefined;
}

function chosen(
  data: Readonly<Record<string, string>>,
  items: readonly Item[] | undefined,
  decode: (text: string) => Buffer,
): Map<string, Buffer> {
  const wanted = items ?? Object.keys(data).map((key) => ({ key, path: key }));
  return new Map(
    wanted.flatMap(({ key, path }) => {
      const text = data[key];
      return text === undefined ? [] : [[path, decode(text)] as const];
    }),
  );
}

async function writeFiles(folder: string, files: ReadonlyMap<string, Buffer>): Promise<void> {
  for (const [name, content] of files) {
    const path = join(folder, name);
    const before = existsSync(path) ? await readFile(path) : undefined;
    if (before?.equals(content)) continue;
    await writeFile(`${path}~`, content, { mode: 0o600 });
    await rename(`${path}~`, path);
  }
  for (const name of await readdir(folder)) {
    if (!files.has(name)) await rm(join(folder, name));
  }
}
