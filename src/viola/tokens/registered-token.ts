import { parseDocument } from 'yaml';
import * as z from 'zod';
import { jsonIn } from '../../api/json.ts';
import { labels } from '../../api/names.ts';
import type { Secret } from '../../kube/core-resources.ts';

/** Token in a registration Secret; `with` returns the Secret's data with a new token. */
export interface RegisteredToken {
  readonly providerId: string;
  readonly token: string;
  readonly with: (token: string) => Readonly<Record<string, string>>;
}

/** Token validity from its claims, in milliseconds since 1970. */
export interface Life {
  readonly from: number;
  readonly to: number;
}

const kubeconfigUsers = z.object({
  users: z.tuple([z.object({ user: z.object({ token: z.string().min(1) }) })]),
});

/** Returns the token from key `token`, or from a `kubeconfig` with a single user; undefined: no token. */
export function registeredToken(secret: Secret): RegisteredToken | undefined {
  const { kubeconfig, token } = secret.data ?? {};
  const providerId = secret.metadata.labels?.[labels.providerId] ?? '';
  if (kubeconfig !== undefined) return inKubeconfig(providerId, decoded(kubeconfig));
  if (token === undefined) return undefined;
  return { providerId, token: decoded(token), with: keyWith };
}

function keyWith(token: string): Readonly<Record<string, string>> {
  return { token: encoded(token) };
}

function inKubeconfig(providerId: string, text: string): RegisteredToken | undefined {
  const document = parseDocument(text);
  const parsed = kubeconfigUsers.safeParse(document.toJS());
  if (!parsed.success) return undefined;
  return {
    providerId,
    token: parsed.data.users[0].user.token,
    with(next) {
      // Keeps all other kubeconfig content unchanged.
      const changed = document.clone();
      changed.setIn(['users', 0, 'user', 'token'], next);
      return { kubeconfig: encoded(changed.toString({ lineWidth: 0 })) };
    },
  };
}

const claims = z.object({ iat: z.number().positive(), exp: z.number().positive() });

/** Returns a ServiceAccount token's validity from its claims (RFC 7519); undefined without these claims. */
export function lifeOf(token: string): Life | undefined {
  const [, payload = ''] = token.split('.');
  const parsed = claims.safeParse(jsonIn(Buffer.from(payload, 'base64url').toString('utf8')));
  if (!parsed.success) return undefined;
  return { from: parsed.data.iat * 1000, to: parsed.data.exp * 1000 };
}

function decoded(data: string): string {
  return Buffer.from(data, 'base64').toString('utf8');
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64');
}
