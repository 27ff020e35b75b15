import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../../build/image/command.ts';
import { toolPath } from '../../../rig/control-plane/control-plane.ts';

/** A containerd with folders of its own, for what nodes do with images. */
export interface Containerd extends AsyncDisposable {
  /** Where its `ctr` is found, and talks to it. */
  readonly env: NodeJS.ProcessEnv;
  /** Images of the kubelet's namespace: name, digest and labels, a line each. */
  images(): Promise<string>;
}

export async function startContainerd(folder: string): Promise<Containerd> {
  await mkdir(join(folder, 'bin'), { recursive: true });
  const ctr = join(folder, 'bin/ctr');
  await symlink(await toolPath('ctr'), ctr);
  const config = join(folder, 'config.toml');
  await writeFile(config, 'version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n');
  const address = join(folder, 'containerd.sock');
  const places = ['root', 'state'].flatMap((place) => [`--${place}`, join(folder, place)]);
  const args = ['--config', config, '--address', address, ...places, '--log-level', 'error'];
  const child = spawn(await toolPath('containerd'), args, { stdio: 'ignore' });
  const ended = once(child, 'close');
  const path = `${join(folder, 'bin')}:${process.env['PATH']}`;
  const env = { ...process.env, PATH: path, CONTAINERD_ADDRESS: address };
  const ask = (...words: readonly string[]) =>
    run([ctr, '--namespace', 'k8s.io', ...words], { env });
  return {
    env,
    images: () => ask('images', 'list'),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
