import * as z from 'zod';

/** Unsupported keys affecting identity or trust are refused, never ignored. */
function refused(fix: string) {
  return z.never({ error: `is not supported: ${fix}` }).optional();
}

const useCredentials = 'use a token, a tokenFile or a client certificate';

/** Joins wrapped lines, as base64(1) writes and Go accepts them. */
const base64 = z
  .string()
  .transform((text) => text.replaceAll(/\s+/g, ''))
  .pipe(z.base64());

export const clusterSchema = z.object({
  server: z.url({ protocol: /^https?$/ }),
  'certificate-authority': z.string().optional(),
  'certificate-authority-data': base64.optional(),
  'tls-server-name': z.string().optional(),
  'insecure-skip-tls-verify': z
    .literal(false, { error: 'is not supported: give the CA as certificate-authority-data' })
    .optional(),
  'proxy-url': refused('use an API server that is reachable without a proxy'),
});

export const userSchema = z.object({
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
  as: refused('use the credentials of that identity'),
});

const context = z.object({
  cluster: z.string(),
  user: z.string(),
  namespace: z.string().optional(),
});

const name = z.string();

/** kubectl writes `null` for empty lists. */
function listOf<Item extends z.ZodType>(item: Item) {
  return z
    .array(item)
    .nullable()
    .transform((list) => list ?? []);
}

/**
 * Contexts with their clusters and users. Cluster and user entries are checked only when chosen: users keep entries
 * for other programs in the same file.
 */
export const kubeconfigSchema = z.object({
  'current-context': z.string().optional(),
  clusters: listOf(z.object({ name, cluster: z.unknown() })),
  users: listOf(z.object({ name, user: z.unknown() })),
  contexts: listOf(z.object({ name, context })),
});

export type KubeconfigCluster = z.infer<typeof clusterSchema>;
export type KubeconfigUser = z.infer<typeof userSchema>;
