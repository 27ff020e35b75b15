import { rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterAccess } from '../../kube/access/access.ts';
import { type Child, type ChildLimit, startChild } from './child.ts';
import { createSocketFolder } from './socket-folder.ts';

/** Cluster choice, passed to kubectl unchanged. */
export interface ClusterChoice {
  /** Undefined: KUBECONFIG, else ~/.kube/config. */
  readonly kubeconfig: string | undefined;
  /** Undefined: the current context. */
  readonly context: string | undefined;
}

/** Access that ends together with its child process. */
export type Tunnel<T> = T & Pick<Child, 'ended'> & AsyncDisposable;

/** Path of kubectl; MULTINIC_KUBECTL replaces the one on PATH. */
function kubectl(): string {
  return process.env['MULTINIC_KUBECTL'] || 'kubectl';
}

/** Returns kubectl's flags for a cluster. */
export function flagsOf({ kubeconfig, context }: ClusterChoice): string[] {
  return [
    ...(kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig]),
    ...(context === undefined ? [] : ['--context', context]),
  ];
}

/**
 * Starts `kubectl proxy` on a unix socket. The socket has the user's rights in the cluster: its folder is open to no other
 * account.
 */
async function startProxy(
  choice: ClusterChoice,
  limit: ChildLimit,
): Promise<Tunnel<ClusterAccess>> {
  const folder = await createSocketFolder();
  // The reader of the output may end the process at any time, such as `head`.
  const removeAtExit = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', removeAtExit);
  async function removeFolder(): Promise<void> {
    process.off('exit', removeAtExit);
    await rm(folder, { recursive: true, force: true });
  }
  const socketPath = join(folder, 'kubectl.sock');
  try {
    const argv = [...flagsOf(choice), 'proxy', `--unix-socket=${socketPath}`];
    const child = await startChild(kubectl(), argv, {
      ready: /Starting to serve on .*/,
      limit,
    });
    return {
      server: 'http://localhost',
      socketPath,
      ended: child.ended,
      async [Symbol.asyncDispose]() {
        await child[Symbol.asyncDispose]();
        await removeFolder();
      },
    };
  } catch (error) {
    await removeFolder();
    throw error;
  }
}

/** Starts `kubectl port-forward` to a Pod; the returned port is on 127.0.0.1. */
async function startPortForward(
  choice: ClusterChoice,
  target: { readonly namespace: string; readonly pod: string; readonly port: number },
  limit: ChildLimit,
): Promise<Tunnel<{ readonly localPort: number }>> {
  const { namespace, pod, port } = target;
  const argv = [
    ...flagsOf(choice),
    '--namespace',
    namespace,
    'port-forward',
    '--address=127.0.0.1',
    `pod/${pod}`,
    `:${port}`,
  ];
  const ready = /Forwarding from 127\.0\.0\.1:(\d+)/;
  const child = await startChild(kubectl(), argv, { ready, limit });
  return {
    localPort: Number(child.ready[1]),
    ended: child.ended,
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

/** Connections through kubectl. */
export const tunnels = { startProxy, startPortForward };
