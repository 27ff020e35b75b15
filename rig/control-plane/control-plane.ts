import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';
import { runScript } from '../hosts/box/script.ts';
import { type AuditEntry, parseAuditLog } from './audit-log.ts';
import { type ObjectReader, openReader } from './object-reader.ts';

type ControlPlaneProcess =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'coredns';

export interface ControlPlaneOptions {
  /** Nodes run Pods that have addresses of their own, with Services, cluster DNS and a StorageClass. Needs root. */
  readonly pods?: boolean;
}

/** A real control plane of its own: etcd, kube-apiserver, kube-controller-manager, kube-scheduler. */
export interface ControlPlane extends AsyncDisposable {
  readonly name: string;
  /** Path of the administrator's kubeconfig (client certificate, group system:masters). */
  readonly kubeconfig: string;
  readonly server: string;
  /** Address under which nodes and Pods reach this machine, not its loopback: there a fault proxy may listen (`host`). */
  readonly machine: string;
  /** Path of a kubeconfig with a client certificate for an identity that has no rights but those bound to it. */
  userKubeconfig(cn: string, groups?: readonly string[]): Promise<string>;
  /** kubectl as the administrator; returns its standard output. */
  kubectl(args: readonly string[], stdin?: string): Promise<string>;
  /** Reads an object as the administrator by its path, such as `/api/v1/nodes/a`; undefined if there is none. */
  read(path: string): Promise<unknown>;
  auditLog(): Promise<readonly AuditEntry[]>;
  /** Lets nodes and Pods of each of the two reach API server and nodes of the other. */
  link(other: Pick<ControlPlane, 'name'>): Promise<void>;
  /** SIGKILL, as a crash would. */
  kill(process: ControlPlaneProcess): Promise<void>;
  /** Starts again whatever does not run, and waits until it is ready. */
  start(): Promise<void>;
  /** Stops it and its nodes and removes everything of it; may be called again. */
  down(): Promise<void>;
}

/** What `rig/control-plane/control-plane install` brings beside a control plane. */
export type Tool = 'containerd' | 'ctr' | 'helm' | 'krew' | 'kubectl' | 'kubeconform';

const script = join(import.meta.dirname, 'control-plane');

const kubeconfigFile = z.object({
  clusters: z.tuple([z.object({ cluster: z.object({ server: z.url() }) })]),
});

/** Path of the program. */
export async function toolPath(tool: Tool): Promise<string> {
  return (await runScript(script, ['path', tool])).trim();
}

/**
 * Starts a control plane named after `name` (1 to 12 of a-z, 0-9, -) and this process, and waits until it is ready.
 * As root it can take nodes. Call `down` in a `finally`.
 */
export async function startControlPlane(
  name: string,
  { pods = false }: ControlPlaneOptions = {},
): Promise<ControlPlane> {
  const unique = `${name}-${process.pid}`;
  let reader: ObjectReader | undefined;
  const down = async () => {
    await reader?.close();
    await runScript(script, ['down', unique]);
  };
  try {
    const kubeconfig = (
      await runScript(script, ['up', unique, ...(pods ? ['--pods'] : [])])
    ).trim();
    const file = kubeconfigFile.parse(parse(await readFile(kubeconfig, 'utf8')));
    const { server } = file.clusters[0].cluster;
    const { read } = (reader = await openReader(server, join(dirname(kubeconfig), 'pki')));
    return {
      name: unique,
      kubeconfig,
      server,
      machine: new URL(server).hostname.replace(/^(198\.18\.\d+)\.1$/, '$1.254'),
      async userKubeconfig(cn, groups = []) {
        return (await runScript(script, ['user', unique, cn, ...groups])).trim();
      },
      async kubectl(args, stdin) {
        return runScript(
          script,
          ['kubectl', unique, ...args],
          stdin === undefined ? {} : { stdin },
        );
      },
      read,
      async auditLog() {
        return parseAuditLog(await readFile(join(dirname(kubeconfig), 'audit.log'), 'utf8'));
      },
      async link(other) {
        await runScript(script, ['link', unique, other.name]);
      },
      async kill(killed) {
        await runScript(script, ['kill', unique, killed]);
      },
      async start() {
        await runScript(script, ['start', unique]);
      },
      down,
      [Symbol.asyncDispose]: down,
    };
  } catch (cause) {
    await down();
    throw cause;
  }
}
