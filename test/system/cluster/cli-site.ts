import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import * as z from 'zod';
import { type ControlPlane, toolPath } from '../../../rig/control-plane/control-plane.ts';
import { untilEstablished } from '../../../rig/control-plane/established.ts';
import { bundleFolder, within } from '../../../rig/parts/program.ts';
import { emptyCluster } from './empty-cluster.ts';

const run = promisify(execFile);
const deploy = join(import.meta.dirname, '../../../deploy');
export const home = 'multinic-operator-system';

export interface Ran {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

const kubeconfigFile = z.object({
  clusters: z.tuple([z.object({ name: z.string(), cluster: z.record(z.string(), z.string()) })]),
  users: z.tuple([z.object({ name: z.string(), user: z.record(z.string(), z.string()) })]),
});

/** A management cluster with CRDs, roles of users, and an OpenstackConfig; the operator has never run. */
export class CliSite implements AsyncDisposable {
  readonly plane: ControlPlane;
  readonly folder: string;
  readonly #path: string;

  private constructor(plane: ControlPlane, folder: string, path: string) {
    this.plane = plane;
    this.folder = folder;
    this.#path = path;
  }

  static async open(plane: ControlPlane, config: object): Promise<CliSite> {
    await emptyCluster(plane);
    for (const name of [home, 'multinic-system']) {
      await plane.kubectl(['create', 'namespace', name]);
    }
    await plane.kubectl(['apply', '--server-side', '-f', join(deploy, 'crds')]);
    await untilEstablished(plane);
    await plane.kubectl(['apply', '--server-side', '-f', join(deploy, 'rbac/users.yaml')]);
    await plane.kubectl(['create', '-f', '-'], JSON.stringify(config));
    const folder = await mkdtemp(join(tmpdir(), 'multinic-cli-'));
    const path = `${dirname(await toolPath('kubectl'))}:${process.env['PATH']}`;
    return new CliSite(plane, folder, path);
  }

  /** Runs the bundled program with kubectl on PATH and this KUBECONFIG. */
  async multinic(kubeconfig: string, ...argv: readonly string[]): Promise<Ran> {
    const { node, main } = within(bundleFolder);
    return this.#run(node, [main, ...argv], kubeconfig);
  }

  /** Runs a command line as an administrator does who copied it. */
  async asAdministrator(line: string): Promise<Ran> {
    return this.#run('bash', ['-c', line], this.plane.kubeconfig);
  }

  async #run(program: string, argv: readonly string[], kubeconfig: string): Promise<Ran> {
    const { NODE_EXTRA_CA_CERTS: _, MULTINIC_KUBECTL: __, ...rest } = process.env;
    const env = { ...rest, PATH: this.#path, HOME: this.folder, KUBECONFIG: kubeconfig };
    try {
      const { stdout, stderr } = await run(program, argv, { env, cwd: this.folder });
      return { status: 0, out: stdout, err: stderr };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { status: code, out: stdout, err: stderr };
    }
  }

  /** Writes a kubeconfig from parts; returns its path. */
  async kubeconfig(name: string, parts: object): Promise<string> {
    const path = join(this.folder, name);
    const file = { apiVersion: 'v1', kind: 'Config', ...parts };
    await writeFile(path, JSON.stringify(file), { mode: 0o600 });
    return path;
  }

  /** Returns a user's kubeconfig in parts: cluster and client certificate. */
  async partsOf(cn: string) {
    const text = await readFile(await this.plane.userKubeconfig(cn), 'utf8');
    const { clusters, users } = kubeconfigFile.parse(parse(text));
    return { cluster: clusters[0].cluster, user: users[0].user };
  }

  /** Writes the operator's Lease, last renewed at this time; undefined: deletes it. */
  async setLease(renewTime: Date | undefined): Promise<void> {
    const name = ['lease', 'multinic-operator', '-n', home];
    await this.plane.kubectl(['delete', ...name, '--ignore-not-found']);
    if (renewTime === undefined) return;
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'multinic-operator', namespace: home },
      spec: {
        holderIdentity: 'multinic-operator-0_uid',
        leaseDurationSeconds: 15,
        renewTime: renewTime.toISOString().replace('Z', '000Z'),
      },
    };
    await this.plane.kubectl(['create', '-f', '-'], JSON.stringify(lease));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true });
  }
}
