import * as z from 'zod';

/** A key that changes who we are or whom we trust is refused, never ignored. */
function refused(fix: string) {
  return z.never({ error: `is not supported: ${fix}` }).optional();
}

const useCredentials = 'use a token, a tokenFile or a client certificate';

/** Wrapped lines, as base64(1) makes them and Go accepts them, are joined. */
const base64 = z
  .string()
  .transform((text) => text.replaceAll(/\s+/g, ''))
  .pipe(z.base64());

const cluster = z.object({
  server: z.url({ protocol: /^https?$/ }),
  'certificate-authority': z.string().optional(),
  'certificate-authority-data': base64.optional(),
  'tls-server-name': z.string().optional(),
  'insecure-skip-tls-verify': z
    .literal(false, { error: 'is not supported: give the CA as certificate-authority-data' })
    .optional(),
  'proxy-url': refused('the API server must be reachable directly'),
});

const user = z.object({
  token: z.string().optional(),
  tokenFile: z.string().optional(),
  'client-certificate': z.string().optional(),
  'client-certificate-data': base64.optional(),
  'client-key': z.string().optional(),
  'client-key-data': base64.optional(),
  exec: refused(useCredentials),
  'auth-provider': refused(useCredentials),
  username: refused(useCredentials),
  password: refused(useCredentials),
  as: refused('use an identity of its own'),
});

const context = z.object({
  cluster: z.string(),
  user: z.string(),
  namespace: z.string().optional(),
});

const name = z.string();

/** The parts of a kubeconfig that say where a server is and as whom to speak to it. */
export const kubeconfigSchema = z.object({
  'current-context': z.string().optional(),
  clusters: z.array(z.object({ name, cluster })),
  users: z.array(z.object({ name, user: user.nullable() })),
  contexts: z.array(z.object({ name, context })),
});

export type Kubeconfig = z.infer<typeof kubeconfigSchema>;
export type KubeconfigCluster = z.infer<typeof cluster>;
export type KubeconfigUser = z.infer<typeof user>;
