import type * as z from 'zod';
import { clusters as clustersBody, clustersPath, problem } from '../../api/node-configs-http.ts';
import type { Admit } from '../../http/admission.ts';
import type { HttpServer } from '../../http/app.ts';
import { everyRoute, problemResponses } from '../../http/problem-responses.ts';
import { mapBounded } from '../../process/bounded.ts';
import { callerOf } from '../access/admit.ts';
import { reach } from '../clusters/reach.ts';
import type { ClusterRights } from '../clusters/rights-in-cluster.ts';
import type { PostDeps } from './post-route.ts';

export interface ClustersDeps extends PostDeps {
  /** undefined: rights in clusters are not checked. */
  readonly rights?: ClusterRights | undefined;
  /** Conditions about Viola itself, shown in the cluster list. */
  readonly conditions?: readonly Condition[];
}

type Condition = NonNullable<z.infer<typeof clustersBody>['conditions']>[number];

/** Registers the route for registered business clusters. */
export function serveClusters(
  app: HttpServer,
  { clusters, clock, parallel, rights, conditions }: ClustersDeps,
  { admit }: { readonly admit: Admit },
): void {
  app.get(
    clustersPath,
    {
      config: { admit },
      schema: {
        operationId: 'listClusters',
        summary:
          'List registered business clusters, their reachability and missing rights of Viola',
        response: { 200: clustersBody, ...problemResponses(problem, ...everyRoute) },
      },
    },
    async (request) => {
      const { providers } = callerOf(request);
      const mine = (id: string) => providers.includes('*') || providers.includes(id);
      const options = { clock, signal: request.work, rights };
      const ids = clusters.providerIds.filter(mine);
      const items = await mapBounded(ids, parallel, (id) => reach(clusters, id, options));
      return { items, ...(conditions ? { conditions: [...conditions] } : {}) };
    },
  );
}
