import type { FastifyRequest } from 'fastify';
import { providerHeader } from '../../api/node-configs-http.ts';
import type { Admit, Caller } from '../../http/admission.ts';
import { HttpProblem } from '../../http/problem.ts';
import type { TokenFile } from '../../http/token-file.ts';
import { authorize, identify, type Verb } from '../../http/who-may.ts';
import type { Cluster, Clusters, Lookup } from '../clusters/clusters.ts';

export interface AdmitDeps {
  readonly clusters: Clusters;
  readonly tokens: TokenFile;
}

/** Admits callers whose token grants `verb` for the registered cluster in the provider header. */
export function admitTo({ clusters, tokens }: AdmitDeps, verb: Verb): Admit {
  return async ({ headers }) => {
    const { authorization, [providerHeader]: header } = headers;
    const provider = typeof header === 'string' ? header.trim() : '';
    const grants = await tokens.current();
    identify(grants, authorization);
    if (provider === '') {
      throw providerRequired();
    }
    const { name, providers } = authorize(grants, authorization, { provider, verb });
    await clusters.use(provider, async (lookup) => usable(provider, lookup));
    return { name, providers, provider };
  };
}

/** Returns the problem for a request without a business cluster. */
export function providerRequired(): HttpProblem {
  const detail = `header ${providerHeader} is missing; set it to the id of the business cluster`;
  return new HttpProblem(400, 'ProviderRequired', detail);
}

/** Admits every caller with a valid token; the token's providers limit the visible clusters. */
export function admitAny({ tokens }: Pick<AdmitDeps, 'tokens'>): Admit {
  return async ({ headers }) => {
    const { name, providers } = identify(await tokens.current(), headers.authorization);
    return { name, providers };
  };
}

/** Returns the admitted caller; throws on routes without admission. */
export function callerOf({ caller, url }: FastifyRequest): Caller {
  if (!caller) throw new Error(`route ${url} has no admission`);
  return caller;
}

/** Returns the cluster, or throws the problem that explains why the cluster is unusable. */
export function usable(provider: string, lookup: Lookup): Cluster {
  if (lookup.kind === 'found') return lookup.cluster;
  if (lookup.kind === 'broken') throw new HttpProblem(503, 'ClusterUnusable', lookup.message);
  if (lookup.kind === 'unread') {
    const detail =
      'the registrations of business clusters are not read yet; repeat the request in a few seconds';
    throw new HttpProblem(503, 'NotReady', detail, { retryAfterSeconds: 2 });
  }
  const detail = `no business cluster is registered as "${provider}"; add its registration Secret`;
  throw new HttpProblem(404, 'UnknownProvider', detail);
}
