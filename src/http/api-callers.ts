import type { FastifyRequest } from 'fastify';
import type { Admit } from './admission.ts';
import { isFromThisMachine } from './host-name.ts';
import { HttpProblem } from './problem.ts';
import type { TokenFile } from './token-file.ts';
import { identify, type Verb } from './who-may.ts';

/**
 * Admits API callers with the verb in their token. Loopback callers may do everything, because the API
 * server already authorised their port-forward.
 */
export function admitApiCallers(tokens: TokenFile | undefined, verb: Verb): Admit {
  return async (request) => {
    if (isFromThisMachine(request)) return { name: 'this machine', providers: ['*'] };
    const grants = (await tokens?.current()) ?? [];
    const { verbs, providers, name } = identify(grants, request.headers.authorization);
    if (verbs.includes(verb)) return { name, providers };
    const detail = `${name} may not ${verb}; add ${verb} to the token's verbs`;
    throw new HttpProblem(403, 'VerbDenied', detail);
  };
}

/** Returns the business clusters visible to the caller; undefined: all. */
export function visibleProviders({
  caller,
}: Pick<FastifyRequest, 'caller'>): readonly string[] | undefined {
  const providers = caller?.providers ?? [];
  return providers.includes('*') ? undefined : providers;
}

/** Throws 503 on a replica without leadership: only the leader's data are current. */
export function refuseStale(why: string | undefined): void {
  if (why !== undefined) throw notLeading(why);
}

export function notLeading(why: string): HttpProblem {
  return new HttpProblem(503, 'NotLeading', `${why}; send the request to that replica`, {
    retryAfterSeconds: 5,
  });
}
