import { Agent, fetch } from 'undici';
import type { ControlPlane } from '../../../rig/control-plane/control-plane.ts';
import { openPortForward, type PortForward } from '../../../rig/control-plane/port-forward.ts';

type RequestInit = NonNullable<Parameters<typeof fetch>[1]>;

/** A port of a Service or Deployment as `kubectl port-forward` brings it here. */
export interface Forwarded extends AsyncDisposable {
  /** A request to it; the forwarding is made anew when its Pod was replaced. */
  fetch(path: string, init?: RequestInit): ReturnType<typeof fetch>;
}

export interface ForwardedPort {
  readonly namespace: string;
  /** Such as `svc/viola-api`. */
  readonly target: string;
  readonly port: number;
  /** PEM that its certificate is verified with; missing: it speaks plain HTTP. */
  readonly ca?: string;
}

export function forwarded(
  cluster: ControlPlane,
  { namespace, target, port, ca }: ForwardedPort,
): Forwarded {
  const dispatcher = new Agent({ connect: { ca }, connections: 1, pipelining: 0 });
  const scheme = ca === undefined ? 'http' : 'https';
  let open: Promise<PortForward> | undefined;

  async function close(): Promise<void> {
    const held = await open?.catch(() => undefined);
    open = undefined;
    await held?.[Symbol.asyncDispose]();
  }
  async function ask(path: string, init: RequestInit) {
    open ??= openPortForward(cluster, namespace, target, port);
    const { port: own } = await open;
    return fetch(`${scheme}://localhost:${own}${path}`, { ...init, dispatcher });
  }
  return {
    async fetch(path, init = {}) {
      try {
        return await ask(path, init);
      } catch {
        // Whatever broke, a forwarding ends with the Pod that it led to: a new one says what is wrong.
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
