import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { run } from '../../../build/image/command.ts';

const unpacked = join(import.meta.dirname, '../../../rig/unpacked/unpacked');

/** Debian's buildah with a storage of its own: no daemon, no overlay, nothing on this machine is asked or changed. */
export interface Buildah {
  /** In which a program finds it as `buildah`. */
  readonly env: NodeJS.ProcessEnv;
  /** Writes an image of it as an archive. */
  save(image: string, file: string): Promise<void>;
}

export async function startBuildah(folder: string): Promise<Buildah> {
  const home = join(folder, 'home');
  const cache = process.env['XDG_CACHE_HOME'] ?? join(process.env['HOME'] ?? '/root', '.cache');
  const script = await put(
    join(folder, 'bin/buildah'),
    `#!/bin/sh\nXDG_CACHE_HOME='${cache}' exec '${unpacked}' run buildah "$@"\n`,
  );
  await chmod(script, 0o755);
  const policy = { default: [{ type: 'insecureAcceptAnything' }] };
  await put(join(home, '.config/containers/policy.json'), JSON.stringify(policy));
  const places = `graphroot = "${folder}/graph"\nrunroot = "${folder}/run"\n`;
  const storage = await put(join(folder, 'storage.conf'), `[storage]\ndriver = "vfs"\n${places}`);
  const env = {
    ...process.env,
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    HOME: home,
    CONTAINERS_STORAGE_CONF: storage,
    BUILDAH_ISOLATION: 'chroot',
  };
  return {
    env,
    async save(image, file) {
      await run([script, 'push', image, `oci-archive:${file}`], { env });
    },
  };
}

async function put(path: string, text: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}
