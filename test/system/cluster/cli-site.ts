import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';
import type { ControlPlane } from '../../../rig/control-plane/control-plane.ts';
import { untilEstablished } from '../../../rig/control-plane/established.ts';
import { multinic, pasted, type Ran } from '../../fixtures/cli/real-kubectl.ts';
import { emptyCluster } from './empty-cluster.ts';

const deploy = join(import.meta.dirname, '../../../deploy');
export const home = 'multinic-operator-system';

const kubeconfigFile = z.object({
  clusters: z.tuple([z.object({ name: z.string(), cluster: z.record(z.string(), z.string()) })]),
  users: z.tuple([z.object({ name: z.string(), user: z.record(z.string(), z.string()) })]),
});

/** A management cluster with CRDs, roles of users, and an OpenstackConfig; the operator has never run. */
export class CliSite implements AsyncDisposable {
  readonly plane: ControlPlane;
  readonly folder: string;

  private constructor(plane: ControlPlane, folder: string) {
    this.plane = plane;
    this.folder = folder;
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
    return new CliSite(plane, folder);
  }

  /** Runs the bundled program with this KUBECONFIG. */
  multinic(kubeconfig: string, ...argv: readonly string[]): Promise<Ran> {
    return multinic({ kubeconfig, folder: this.folder }, ...argv);
  }

  /** Runs a command line as an administrator does who copied it. */
  asAdministrator(line: string): Promise<Ran> {
    return pasted({ kubeconfig: this.plane.kubeconfig, folder: this.folder }, line);
  }

  /** Writes a kubeconfig from parts; returns the path. */
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
