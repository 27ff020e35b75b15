import * as z from 'zod';
import { labels, namespaces } from '../../api/names.ts';
import { isLoopback } from '../../http/loopback.ts';
import type { ClusterAccess } from '../../kube/access/access.ts';
import { loadKubeconfig } from '../../kube/access/kubeconfig.ts';
import type { Secret } from '../../kube/core-resources.ts';

/** Registered business cluster: access and objects' namespace. */
export interface Registration {
  readonly providerId: string;
  readonly access: ClusterAccess;
  readonly namespace: string;
}

/** Trimmed text: a Secret made from a file ends with a line break, which URLs and headers forbid. */
const line = z.string().trim();

const keys = z.object({
  kubeconfig: z.string().optional(),
  server: line.pipe(z.url({ protocol: /^https?$/ })).optional(),
  token: line.min(1).optional(),
  'ca.crt': z.string().min(1).optional(),
  namespace: line
    .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, 'is not a namespace name')
    .default(namespaces.system),
});

/**
 * Parses a registration Secret: `kubeconfig`, or `server`, `token` and `ca.crt`; optionally `namespace`. Throws an
 * error naming the key, never its value.
 */
export async function readRegistration(secret: Secret): Promise<Registration> {
  const text = Object.fromEntries(
    Object.entries(secret.data ?? {}).map(([key, data]) => [
      key,
      Buffer.from(data, 'base64').toString('utf8'),
    ]),
  );
  const parsed = keys.safeParse(text);
  if (!parsed.success) {
    const flaws = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw new Error(flaws.join('; '));
  }
  const providerId = secret.metadata.labels?.[labels.providerId] ?? '';
  const access = await accessOf(parsed.data);
  refuseOpenToken(access);
  return { providerId, access, namespace: parsed.data.namespace };
}

async function accessOf(data: z.infer<typeof keys>): Promise<ClusterAccess> {
  if (data.kubeconfig !== undefined) return loadKubeconfig(asText(data.kubeconfig));
  const { server, token, 'ca.crt': ca } = data;
  if (server === undefined || token === undefined) {
    throw new Error('has neither kubeconfig nor server and token; add kubeconfig, or both others');
  }
  return { server, token: () => Promise.resolve(token), ...(ca === undefined ? {} : { ca }) };
}

/** Refuses to send a token over plain HTTP; a tunnel on a loopback address is allowed. */
function refuseOpenToken({ server, token }: ClusterAccess): void {
  const { protocol, hostname } = new URL(server);
  if (protocol === 'https:' || token === undefined || isLoopback(hostname)) return;
  throw new Error(
    `server: ${protocol}//${hostname} would send the token unencrypted; use https://`,
  );
}

/** Appends a line break: loadKubeconfig reads a text without line break as a path. */
function asText(kubeconfig: string): string {
  return `${kubeconfig}\n`;
}
