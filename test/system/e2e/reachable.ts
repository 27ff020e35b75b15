import type { ControlPlane } from '../../../rig/control-plane/control-plane.ts';
import { startFaultProxy } from '../../../rig/fault-proxy/fault-proxy.ts';

/** A server of this machine's loopback as Pods of a cluster reach it, until it is disposed of. */
export async function reachable(
  cluster: ControlPlane,
  url: string,
): Promise<AsyncDisposable & { readonly url: string }> {
  const { origin, pathname, hostname, port } = new URL(url);
  if (hostname !== '127.0.0.1') throw new Error(`${origin} is not of this machine's loopback`);
  const proxy = await startFaultProxy({
    target: `tcp://${hostname}:${port}`,
    host: cluster.machine,
  });
  const path = pathname === '/' ? '' : pathname;
  return {
    url: `http://${cluster.machine}:${proxy.port}${path}`,
    [Symbol.asyncDispose]: () => proxy.close(),
  };
}
