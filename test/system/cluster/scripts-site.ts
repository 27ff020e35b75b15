import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { resolve as absolute, dirname, join } from 'node:path';
import {
  type ControlPlane,
  startControlPlane,
  toolPath,
} from '../../../rig/control-plane/control-plane.ts';

const root = join(import.meta.dirname, '../../..');

interface Ran {
  readonly code: number;
  /** Standard output and standard error. */
  readonly output: string;
}

interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Working directory; default: the checkout. */
  readonly cwd?: string;
  /** Bash code before every kubectl call: `lose` simulates an unreachable API server, `real` runs kubectl for a second user. */
  readonly kubectl?: string;
}

/** Control plane for the scripts of this checkout; without nodes, so Deployments have 0 replicas. */
export interface ScriptsSite extends AsyncDisposable {
  readonly cluster: ControlPlane;
  readonly folder: string;
  run(script: string, args: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Field of an object by JSONPath; '' if missing. */
  value(path: string, ...object: readonly string[]): Promise<string>;
}

/** helm then waits for nothing; no volumes exist either. */
export const withoutPods = [
  '--',
  '--timeout=60s',
  ...['operator.replicas=0', 'viola.replicas=0', 'operator.persistence.enabled=false'].flatMap(
    (value) => ['--set', value],
  ),
];

export async function openScriptsSite(name: string): Promise<ScriptsSite> {
  const cluster = await startControlPlane(name);
  const folder = await mkdtemp(join(tmpdir(), 'scripts site '));
  const kubectl = await toolPath('kubectl');
  const tools = [dirname(await toolPath('helm')), dirname(kubectl)];
  let shims = 0;

  async function shim(before: string): Promise<string> {
    shims += 1;
    const place = join(folder, `shim-${shims}`);
    const lose = 'lose() { echo "Unable to connect to the server: EOF" >&2; exit 1; }';
    const real = `real() { ${kubectl} "$@"; }`;
    const text = `#!/bin/bash\n${lose}\n${real}\n${before}\nexec ${kubectl} "$@"\n`;
    await mkdir(place);
    await writeFile(join(place, 'kubectl'), text);
    await chmod(join(place, 'kubectl'), 0o755);
    return place;
  }

  return {
    cluster,
    folder,
    async run(script, args, { env = {}, cwd = root, kubectl: before } = {}) {
      const first = before === undefined ? [] : [await shim(before)];
      const path = [...first, ...tools, process.env['PATH']].join(':');
      const { promise, resolve } = Promise.withResolvers<Ran>();
      const child = execFile(
        absolute(root, script),
        args,
        { cwd, env: { ...process.env, KUBECONFIG: cluster.kubeconfig, PATH: path, ...env } },
        (_error, stdout, stderr) =>
          resolve({ code: child.exitCode ?? -1, output: `${stdout}${stderr}` }),
      );
      child.stdin?.end();
      return promise;
    },
    value: async (path, ...object) =>
      cluster.kubectl(['get', ...object, '--ignore-not-found', '-o', `jsonpath=${path}`]),
    async [Symbol.asyncDispose]() {
      await cluster.down();
      await rm(folder, { recursive: true });
    },
  };
}
