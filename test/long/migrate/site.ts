import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  type ControlPlane,
  startControlPlane,
  toolPath,
} from '../../../rig/control-plane/control-plane.ts';
import { standInFor } from '../../../rig/deployed/programs.ts';
import { runScript } from '../../../rig/hosts/box/script.ts';
import { createHost, type NamespaceHost } from '../../../rig/hosts/namespace/host.ts';
import { startKubelet } from '../../../rig/kubelet/kubelet.ts';
import { program } from '../../../rig/parts/program.ts';
import type { Program } from '../../../rig/workloads/workload.ts';
import { startWorkloads, type Workloads } from '../../../rig/workloads/workloads.ts';
import { loadKubeconfig } from '../../../src/kube/access/kubeconfig.ts';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { createKubeClient } from '../../../src/kube/client/http-client.ts';
import { type Node, nodes, type Pod } from '../../../src/kube/core-resources.ts';
import type { HeapOwner } from '../../../src/process/heap.ts';
import { systemClock as clock, systemRandom as random } from '../../../src/time/clock.ts';

export const root = join(import.meta.dirname, '../../..');
export const legacyFolder = join(root, 'rig/deployed');

/** A node of the cluster with a host behind it, on which either system's agents work. */
export interface Worker {
  readonly name: string;
  readonly systemUuid: string;
  readonly host: NamespaceHost;
  /** MACs of its NICs that are to be configured. */
  readonly macs: readonly string[];
}

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A real control plane whose Pods are processes of this machine: parts of ours, and stand-ins of the deployed system. */
export interface Site extends AsyncDisposable {
  readonly cluster: ControlPlane;
  readonly client: KubeClient;
  readonly workers: readonly Worker[];
  readonly workloads: Workloads;
  readonly directory: string;
  helm(...args: readonly string[]): Promise<string>;
  /** scripts/migrate.sh as a person runs it; resolves whatever its exit status is. */
  migrate(args: readonly string[], path?: string, kubeconfig?: string): Promise<Ran>;
}

export interface WorkerSpec {
  readonly name: string;
  /** Default: one of its own. */
  readonly systemUuid?: string;
  /** Of NICs that are plugged from the start; default: two. */
  readonly macs?: readonly string[];
}

export async function openSite(name: string, specs: readonly WorkerSpec[]): Promise<Site> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'multinic-migrate-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const cluster = stack.use(await startControlPlane(name));
  const access = await loadKubeconfig(cluster.kubeconfig);
  const client = stack.use(createKubeClient(access, { clock, random, userAgent: 'test' }));
  const identities = new Identities(cluster, directory);

  const workloads = stack.use(
    await startWorkloads({
      access,
      node: 'manager',
      directory: join(directory, 'pods'),
      programOf: (pod) => programOf(pod, identities),
      log,
    }),
  );
  const workers: Worker[] = [];
  for (const [i, spec] of specs.entries()) {
    const {
      name: worker,
      systemUuid = crypto.randomUUID(),
      macs = [5, 6].map((n) => `02:00:00:00:0${i + 1}:0${n}`),
    } = spec;
    const nics = Object.fromEntries(macs.map((mac, n) => [`ens${n + 5}`, mac]));
    const host = stack.use(await createHost(`${worker}-${name}`, { nics }));
    const node = { name: worker, systemUUID: systemUuid, host, osImage: 'Ubuntu 22.04.5 LTS' };
    const kubelet = await startKubelet({
      access,
      node,
      directory: join(directory, worker),
      agentCommand: (pod) => agentOf(pod, worker, host, identities),
      log,
    });
    stack.use(kubelet);
    // Deployments are not for this node; agents of either system put up with it.
    await client.patch<Node>(nodes, { name: worker }, { spec: { taints: [infra] } });
    workers.push({ name: worker, systemUuid, host, macs });
  }
  const tools = await Promise.all([toolPath('helm'), toolPath('kubectl')]);
  const kept = stack.move();
  return {
    cluster,
    client,
    workers,
    workloads,
    directory,
    helm: (...args) => runScript(tools[0], ['--kubeconfig', cluster.kubeconfig, ...args]),
    migrate: (args, path = '', kubeconfig = cluster.kubeconfig) =>
      ran(join(root, 'scripts/migrate.sh'), args, {
        ...process.env,
        KUBECONFIG: kubeconfig,
        // What a run leaves that is killed.
        TMPDIR: directory,
        PATH: [path, ...tools.map(dirname), process.env['PATH']].filter(Boolean).join(':'),
      }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

function log(message: string, about?: unknown): void {
  console.error(message, about ?? '');
}

const infra = { key: 'node', value: 'infra', effect: 'NoSchedule' };

function ran(file: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  return new Promise((resolve) => {
    const limits = { env, timeout: 600_000, maxBuffer: 64 * 1024 * 1024 };
    execFile(file, [...args], limits, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 137;
      resolve({ code, stdout, stderr });
    }).stdin?.end();
  });
}

/** Kubeconfigs of ServiceAccounts, as Pods have them. */
class Identities {
  readonly #cluster: ControlPlane;
  readonly #directory: string;

  constructor(cluster: ControlPlane, directory: string) {
    this.#cluster = cluster;
    this.#directory = directory;
  }

  pathOf(namespace: string, account: string): string {
    return join(this.#directory, `${namespace}-${account}.kubeconfig`);
  }

  async write(pod: Pod): Promise<string> {
    const { namespace = '' } = pod.metadata;
    const account = pod.spec?.serviceAccountName ?? 'default';
    const command = ['create', 'token', account, '-n', namespace, '--duration=2h'];
    const token = (await this.#cluster.kubectl(command)).trim();
    const { server, ca } = await loadKubeconfig(this.#cluster.kubeconfig);
    const config = {
      'current-context': 'pod',
      contexts: [{ name: 'pod', context: { cluster: 'pod', user: 'pod', namespace } }],
      clusters: [
        {
          name: 'pod',
          cluster: {
            server,
            'certificate-authority-data': Buffer.from(ca ?? '').toString('base64'),
          },
        },
      ],
      users: [{ name: 'pod', user: { token } }],
    };
    const path = this.pathOf(namespace, account);
    await writeFile(path, JSON.stringify(config), { mode: 0o600 });
    return path;
  }
}

async function programOf(pod: Pod, identities: Identities): Promise<Program> {
  const KUBECONFIG = await identities.write(pod);
  const standIn = standInFor(pod);
  if (standIn) {
    const KUBECTL_PATH = await toolPath('kubectl');
    return { command: standIn, env: { KUBECONFIG, KUBECTL_PATH } };
  }
  const [part] = pod.spec?.containers[0]?.args ?? [];
  const { command, env } = program(part as HeapOwner);
  return { command, env: { ...env, KUBECONFIG } };
}

/** The agent of the system that made the Pod. The stand-in reads the API server, which this machine alone can reach. */
function agentOf(
  pod: Pod,
  node: string,
  host: NamespaceHost,
  identities: Identities,
): readonly string[] {
  const standIn = standInFor(pod);
  if (!standIn) return program('agent').command;
  const where = ['--netns', host.netns, '--host-root', host.root, '--node', node];
  const kubeconfig = identities.pathOf('multinic-system', 'multinic-agent');
  return [
    'nsenter',
    `--net=/proc/${process.pid}/ns/net`,
    '--',
    ...standIn,
    ...where,
    '--kubeconfig',
    kubeconfig,
  ];
}
