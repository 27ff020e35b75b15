import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { configMaps, type Pod } from '../../src/kube/core-resources.ts';
import type { Mount } from './rootfs.ts';

type PodSpec = NonNullable<Pod['spec']>;
type Volume = NonNullable<PodSpec['volumes']>[number];
type Container = PodSpec['containers'][number];

export interface VolumeOptions {
  readonly client: Pick<KubeClient, 'find'>;
  /** Folder for what the Pod's volumes hold. */
  readonly folder: string;
  /** Directory that stands for the host's `/`. */
  readonly hostRoot: string;
  readonly signal: AbortSignal;
}

/** Makes a Pod's volumes and says where its first container sees them; throws in the kubelet's words when one cannot be made. */
export async function prepareVolumes(
  pod: Pod,
  container: Container,
  options: VolumeOptions,
): Promise<readonly Mount[]> {
  const sources = new Map<string, string>();
  for (const volume of pod.spec?.volumes ?? []) {
    sources.set(volume.name, await prepare(pod, volume, options));
  }
  return (container.volumeMounts ?? []).map(({ name, mountPath, subPath }) => {
    const source = sources.get(name);
    if (source === undefined) throw new Error(`volume ${name} is not defined`);
    if (subPath)
      throw new Error(`subPath of volume ${name} is not supported by the stand-in kubelet`);
    return { mountPath, source };
  });
}

async function prepare(pod: Pod, volume: Volume, options: VolumeOptions): Promise<string> {
  const { configMap, hostPath, emptyDir, projected, name } = volume;
  if (hostPath) return hostFolder(hostPath.path, hostPath.type ?? '', options.hostRoot);
  const folder = join(options.folder, name);
  await mkdir(folder, { recursive: true });
  if (configMap?.name) await writeConfigMap(pod, configMap.name, folder, options);
  // What is projected is the token of the Pod's account: no process of this machine needs it.
  else if (!emptyDir && !projected)
    throw new Error(`volume ${name} is of a kind the stand-in kubelet has not`);
  return folder;
}

async function writeConfigMap(
  { metadata }: Pod,
  name: string,
  folder: string,
  { client, signal }: VolumeOptions,
): Promise<void> {
  const ref = { name, ...(metadata.namespace ? { namespace: metadata.namespace } : {}) };
  const found = await client.find(configMaps, ref, { signal });
  if (!found) throw new Error(`configmap "${name}" not found`);
  for (const [key, text] of Object.entries(found.data ?? {})) {
    await writeFile(join(folder, key), text);
  }
}

async function hostFolder(path: string, type: string, hostRoot: string): Promise<string> {
  const real = join(hostRoot, path);
  if (type === 'DirectoryOrCreate') await mkdir(real, { recursive: true });
  const found = await stat(real).catch(() => undefined);
  if (type === 'File' && !found?.isFile()) {
    throw new Error(`hostPath type check failed: ${path} is not a file`);
  }
  if (type.startsWith('Directory') && !found?.isDirectory()) {
    throw new Error(`hostPath type check failed: ${path} is not a directory`);
  }
  return real;
}
