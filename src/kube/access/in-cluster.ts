import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterAccess } from './access.ts';
import { AccessError } from './access-error.ts';
import { credential, fileToken } from './kubeconfig.ts';

/** Mount path for a Pod's ServiceAccount. */
const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

export interface InClusterOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly folder?: string;
}

/** Returns a Pod's access by its mounted ServiceAccount; rejects with an AccessError outside a Pod. */
export async function inCluster({
  env = process.env,
  folder = serviceAccountFolder,
}: InClusterOptions = {}): Promise<ClusterAccess> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (!host || !port) {
    throw new AccessError(
      'no API server configured: this process has no kubeconfig and runs outside a Pod (KUBERNETES_SERVICE_HOST is not set)',
      'outside a cluster, give a kubeconfig: --kubeconfig, or the variable KUBECONFIG',
    );
  }
  const certificates = async () => ({ ca: await credential(join(folder, 'ca.crt')) });
  const [{ ca }, namespace] = await Promise.all([
    certificates(),
    readFile(join(folder, 'namespace'), 'utf8'),
  ]);
  const name = host.includes(':') ? `[${host}]` : host;
  return {
    server: `https://${name}:${port}`,
    ca,
    certificates,
    namespace: namespace.trim(),
    token: fileToken(join(folder, 'token')),
  };
}
