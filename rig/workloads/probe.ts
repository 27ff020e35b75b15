import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Pod } from '../../src/kube/core-resources.ts';

type ContainerPort = { readonly name?: string; readonly containerPort: number };

/** Ports of a Pod's container. */
export function portsOf({ spec }: Pod): readonly ContainerPort[] {
  return spec?.containers[0]?.ports ?? [];
}

/** The port that somebody means by its name or number. */
export function portNamed(pod: Pod, port: string | number): number | undefined {
  const named = portsOf(pod).find(({ name, containerPort }) =>
    [name, containerPort].includes(port),
  );
  return named?.containerPort;
}

/** What the readiness probe of a Pod says; without one it is ready as soon as it runs. */
export async function isReady(pod: Pod, ports: ReadonlyMap<number, number>): Promise<boolean> {
  const probe = pod.spec?.containers[0]?.readinessProbe?.httpGet;
  if (!probe) return true;
  const { path = '/', port, scheme = 'HTTP' } = probe;
  const local = ports.get(portNamed(pod, port) ?? Number(port));
  const ask = scheme === 'HTTPS' ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    const where = { host: '127.0.0.1', port: local, path };
    // As a kubelet: it asks for no certificate.
    const asked = ask({ ...where, rejectUnauthorized: false, timeout: 2000 }, (answer) => {
      answer.resume();
      resolve((answer.statusCode ?? 500) < 400);
    });
    asked.once('error', () => resolve(false));
    asked.once('timeout', () => asked.destroy());
    asked.end();
  });
}
