import { createHash, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { HttpProblem } from './problem.ts';

/** Verbs on every server. An earlier Viola rejects a whole file with an unknown verb. */
export const verbs = ['read', 'write', 'delete'] as const;
/** Verbs in the operator's own token files: `plan` allows a what-if. */
export const operatorVerbs = [...verbs, 'plan'] as const;
export type Verb = (typeof operatorVerbs)[number];

const grant = z.object({
  name: z.string().min(1, 'must not be blank'),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits, lower case'),
  providers: z.array(z.string().min(1)).min(1, 'must name a provider, or "*" for all'),
  verbs: z.array(z.enum(operatorVerbs)),
});

/** Returns the token file schema for a server with these verbs. */
export function grantsWith(allowed: readonly Verb[]) {
  const verb = z.enum(allowed);
  const some = z.array(verb).min(1, `must name a verb: ${allowed.join(', ')}`);
  return z.array(grant.extend({ verbs: some }));
}

/** Viola's token file schema: allowed business clusters and verbs per caller. Tokens are stored only as sha256. */
export const grants = grantsWith(verbs);

export type Grant = z.infer<typeof grant>;

export interface Access {
  /** Business cluster (x-provider-id). */
  readonly provider: string;
  readonly verb: Verb;
}

/**
 * Returns the caller's grant, or throws: 401 without a token or with an unknown token, 403 if the grant lacks the
 * provider or the verb. Deny by default.
 */
export function authorize(
  list: readonly Grant[],
  authorization: string | undefined,
  { provider, verb }: Access,
): Grant {
  const caller = identify(list, authorization);
  if (!caller.providers.includes(provider) && !caller.providers.includes('*')) {
    const detail = `${caller.name} may not use provider "${provider}"; add it to the token's providers`;
    throw new HttpProblem(403, 'ProviderDenied', detail);
  }
  if (!caller.verbs.includes(verb)) {
    const detail = `${caller.name} may not ${verb}; add the verb to the token's verbs`;
    throw new HttpProblem(403, 'VerbDenied', detail);
  }
  return caller;
}

/** Returns the grant for the presented token, or throws 401. */
export function identify(list: readonly Grant[], authorization: string | undefined): Grant {
  const token = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) {
    throw new HttpProblem(401, 'TokenRequired', 'send Authorization: Bearer <token>');
  }
  const presented = createHash('sha256').update(token).digest();
  const matching = list.filter(({ sha256 }) =>
    timingSafeEqual(Buffer.from(sha256, 'hex'), presented),
  );
  const [caller] = matching;
  if (caller === undefined) {
    throw new HttpProblem(401, 'TokenUnknown', 'the token is not in the token file of this server');
  }
  return caller;
}
