import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { type Cluster, read } from '../cluster.ts';
import type { JsonObject } from '../objects/json.ts';
import { invalid, notFound } from '../objects/status-error.ts';
import { type ResourceType, resourceOf } from '../resources/resource-type.ts';
import { invalidCause } from '../resources/strategies.ts';
import type { TokenTable } from './authentication.ts';
import type { ResourceRequest } from './request-info.ts';

const shortestSeconds = 600;

const requestEdge = z.looseObject({
  spec: z
    .looseObject({
      audiences: z.array(z.string()).nullish(),
      expirationSeconds: z.int().default(3600),
    })
    .prefault({}),
});

/** Whether a subresource is the one that tokens are made by: only ever created. */
export function makesTokens(type: ResourceType, subresource: string | undefined): boolean {
  return subresource === 'token' && resourceOf(type) === 'serviceaccounts';
}

/** Makes a token of a ServiceAccount that says, as a JWT does, from when until when it is good; it stays good here. */
export function issueToken(
  cluster: Cluster,
  tokens: TokenTable,
  { type, namespace = '', name = '' }: ResourceRequest,
  body: JsonObject,
): JsonObject {
  if (!read(cluster, { type, namespace, name })) throw notFound(type, name);
  const { spec } = requestEdge.parse(body);
  if (spec.expirationSeconds < shortestSeconds) {
    const why = 'may not specify a duration less than 10 minutes';
    throw invalid(type, name, [
      invalidCause('spec.expirationSeconds', spec.expirationSeconds, why),
    ]);
  }
  const from = Math.floor(cluster.clock.now().getTime() / 1000);
  const to = from + spec.expirationSeconds;
  const user = `system:serviceaccount:${namespace}:${name}`;
  const token = tokenText(user, { from, to });
  tokens.add({ token, user });
  return {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name, namespace },
    spec: { ...spec, audiences: spec.audiences ?? [] },
    status: {
      token,
      expirationTimestamp: new Date(to * 1000).toISOString().replace('.000Z', 'Z'),
    },
  };
}

/** Seconds since 1970. */
export interface TokenLife {
  readonly from: number;
  readonly to: number;
}

/** A token that says whose it is and when it is good, in the form of a JWT (RFC 7519). */
export function tokenText(user: string, { from, to }: TokenLife): string {
  const parts = [{ alg: 'none' }, { iat: from, exp: to, sub: user }];
  const encoded = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  return [...encoded, randomBytes(16).toString('hex')].join('.');
}
