import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Agent, fetch } from 'undici';
import type { ControlPlane } from '../../rig/control-plane/control-plane.ts';

const script = join(import.meta.dirname, '../../rig/control-plane/control-plane');

/** A port of a Service or Deployment as `kubectl port-forward` brings it here. */
export interface Forwarded extends AsyncDisposable {
  /** A request to it; the forwarding is made anew when its Pod was replaced. */
  fetch(path: string, init?: RequestInit): ReturnType<typeof fetch>;
}

type RequestInit = Parameters<typeof fetch>[1];

export interface ForwardedPort {
  readonly namespace: string;
  /** Such as `svc/viola-api`. */
  readonly target: string;
  readonly port: number;
  /** PEM that its certificate is verified with; missing: it speaks plain HTTP. */
  readonly ca?: string;
}

export function forwarded(cluster: ControlPlane, what: ForwardedPort): Forwarded {
  const dispatcher = new Agent({ connect: { ca: what.ca }, connections: 1, pipelining: 0 });
  const scheme = what.ca === undefined ? 'http' : 'https';
  let open: Promise<Tunnel> | undefined;

  async function close(): Promise<void> {
    const held = await open?.catch(() => undefined);
    open = undefined;
    if (held) await end(held.child);
  }
  async function ask(path: string, init: RequestInit) {
    open ??= openTunnel(cluster, what);
    const { port } = await open;
    return fetch(`${scheme}://localhost:${port}${path}`, {
      ...init,
      dispatcher,
    });
  }
  return {
    async fetch(path, init = {}) {
      try {
        return await ask(path, init);
      } catch {
        // Whatever broke, the tunnel ends with the Pod that it led to: a new one says what is wrong.
        await close();
        return ask(path, init);
      }
    },
    async [Symbol.asyncDispose]() {
      await close();
      await dispatcher.close();
    },
  };
}

interface Tunnel {
  readonly child: ChildProcess;
  readonly port: number;
}

async function openTunnel({ name }: ControlPlane, what: ForwardedPort): Promise<Tunnel> {
  const { namespace, target, port } = what;
  const args = ['kubectl', name, '-n', namespace, 'port-forward', target, `:${port}`];
  const child = spawn(script, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const errors: string[] = [];
  child.stderr.on('data', (piece: Buffer) => errors.push(piece.toString()));
  for await (const line of createInterface({ input: child.stdout })) {
    const local = /^Forwarding from 127\.0\.0\.1:(\d+) /.exec(line)?.[1];
    if (local !== undefined) return { child, port: Number(local) };
  }
  throw new Error(`port-forward to ${target}: ${errors.join('').trim()}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
