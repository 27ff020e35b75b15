import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type ControlPlane, toolPath } from '../../../rig/control-plane/control-plane.ts';
import { runScript } from '../../../rig/hosts/box/script.ts';
import { bundleFolder } from '../../../rig/parts/program.ts';
import { type Forwarded, forwarded } from './forwarded.ts';
import { PartsInPods } from './pods.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const ours = join(root, 'charts');

export const namespaces = {
  management: 'multinic-operator-system',
  business: 'multinic-system',
} as const;

export interface Clusters {
  readonly management: ControlPlane;
  readonly business: ControlPlane;
}

export interface Release {
  readonly cluster: ControlPlane;
  readonly chart: 'multinic-operator' | 'multinic-agent';
  /** Folder of the charts; default: ours. */
  readonly charts?: string;
  readonly namespace: string;
  /** Paths of values files, and then values of this test; later ones win. */
  readonly files?: readonly string[];
  readonly values?: readonly object[];
  /** Takes back what somebody changed by hand. */
  readonly force?: boolean | undefined;
  /** Whether all Pods have to become ready (default), or only to be asked for. */
  readonly wait?: boolean;
}

/** `helm upgrade --install --wait`, as docs/guides/install.md says it. */
export async function helmInstall(directory: string, release: Release): Promise<void> {
  const {
    cluster,
    chart,
    namespace,
    files = [],
    values = [],
    charts = ours,
    wait = true,
    force = false,
  } = release;
  const own = await Promise.all(
    values.map(async (each, i) => {
      const file = join(directory, `${chart}-values-${i}.json`);
      await writeFile(file, JSON.stringify(each), { mode: 0o600 });
      return file;
    }),
  );
  await helm(cluster, [
    'upgrade',
    '--install',
    chart,
    join(charts, chart),
    '--namespace',
    namespace,
    '--create-namespace',
    ...[...files, ...own].flatMap((file) => ['--values', file]),
    ...(wait ? ['--wait', '--timeout=180s'] : []),
    ...(force ? ['--force-conflicts'] : []),
  ]);
}

export async function helm(cluster: ControlPlane, args: readonly string[]): Promise<string> {
  return runScript(await toolPath('helm'), ['--kubeconfig', cluster.kubeconfig, ...args]);
}

/** `multinic register-cluster`, as a person runs it; resolves to what it said. */
export async function registerCluster(
  { management, business }: Clusters,
  provider: string,
): Promise<string> {
  const command = [join(bundleFolder, 'main.mjs'), 'register-cluster', provider];
  const kubeconfigs = [
    '--kubeconfig',
    business.kubeconfig,
    '--management-kubeconfig',
    management.kubeconfig,
  ];
  const { stdout } = await run(process.execPath, [...command, ...kubeconfigs, '--yes']);
  return stdout;
}

export interface Replicas {
  readonly operator: number;
  readonly viola: number;
  readonly controller: number;
}

/** The parts of an installation. */
export function partsOf({ management, business }: Clusters, replicas: Replicas): PartsInPods {
  const inManagement = { cluster: management, namespace: namespaces.management };
  return new PartsInPods({
    operator: {
      ...inManagement,
      deployment: 'multinic-operator-controller-manager',
      replicas: replicas.operator,
    },
    viola: { ...inManagement, deployment: 'viola-api', replicas: replicas.viola },
    controller: {
      cluster: business,
      namespace: namespaces.business,
      deployment: 'multinic-agent-controller',
      replicas: replicas.controller,
    },
  });
}

/** Viola as people reach it from outside of the cluster; its certificate is verified with the CA that the operator made. */
export async function forwardedViola(management: ControlPlane): Promise<Forwarded> {
  const path = ['get', 'secret', 'viola-api-tls', '-o', 'jsonpath={.data.ca\\.crt}'];
  const ca = await management.kubectl(['-n', namespaces.management, ...path]);
  return forwarded(management, {
    namespace: namespaces.management,
    target: 'svc/viola-api',
    port: 443,
    ca: Buffer.from(ca, 'base64').toString('utf8'),
  });
}

export function forwardedInventory(management: ControlPlane): Forwarded {
  const target = 'svc/multinic-operator-inventory-service';
  return forwarded(management, { namespace: namespaces.management, target, port: 18_081 });
}

/** A script of the project as a person runs it against a cluster, with the rig's kubectl and helm; resolves to all that it said. */
export async function runProjectScript(
  cluster: ControlPlane,
  script: string,
  args: readonly string[],
): Promise<string> {
  const tools = [dirname(await toolPath('helm')), dirname(await toolPath('kubectl'))];
  const env = {
    ...process.env,
    KUBECONFIG: cluster.kubeconfig,
    PATH: [...tools, process.env['PATH']].join(':'),
  };
  const { stdout, stderr } = await run(join(root, script), args, { env });
  return stdout + stderr;
}
