import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type ControlPlane, toolPath } from './control-plane.ts';

/** A port of this machine's loopback that leads to a Pod's. */
export interface PortForward extends AsyncDisposable {
  readonly port: number;
}

/** `kubectl port-forward TARGET` as the administrator, once it listens; TARGET such as `svc/name`, of which one Pod is taken. */
export async function openPortForward(
  controlPlane: Pick<ControlPlane, 'kubeconfig'>,
  namespace: string,
  target: string,
  port: number,
): Promise<PortForward> {
  const flags = ['--kubeconfig', controlPlane.kubeconfig, '-n', namespace];
  const child = spawn(await toolPath('kubectl'), [...flags, 'port-forward', target, `:${port}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    complaint = piece;
  });
  const ended = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) {
    const own = /^Forwarding from 127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (own === undefined) continue;
    child.stdout.resume();
    return {
      port: Number(own),
      async [Symbol.asyncDispose]() {
        child.kill();
        await ended;
      },
    };
  }
  throw new Error(`kubectl port-forward ${target} ended before it listened: ${complaint}`);
}
