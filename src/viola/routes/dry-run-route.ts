import {
  dryRunPath,
  postAnswer,
  postedNodes,
  problem,
  providerHeaders,
} from '../../api/node-configs-http.ts';
import type { Admit } from '../../http/admission.ts';
import type { HttpServer } from '../../http/app.ts';
import { everyBody, everyRoute, problemResponses } from '../../http/problem-responses.ts';
import { callerOf } from '../access/admit.ts';
import { inCluster } from '../access/in-cluster.ts';
import { postNodes } from '../write/post-nodes.ts';
import type { PostDeps } from './post-route.ts';

/**
 * Registers the route for validating nodes in the business cluster without writes. A parameter on the POST would be
 * dangerous: an earlier Viola ignores unknown parameters and writes.
 */
export function serveDryRun(
  app: HttpServer,
  deps: PostDeps,
  { admit }: { readonly admit: Admit },
): void {
  app.post(
    dryRunPath,
    {
      config: { admit },
      schema: {
        operationId: 'dryRunNodeConfigs',
        summary: 'Validate node configs in the business cluster as a POST would, and write nothing',
        headers: providerHeaders,
        body: postedNodes,
        response: {
          200: postAnswer,
          ...problemResponses(problem, ...everyRoute, 404, ...everyBody),
        },
      },
    },
    async (request) => {
      const { provider = '' } = callerOf(request);
      const options = {
        ...deps,
        // Nothing is written, so no effect is recorded.
        perform: async <T>(_effect: string, write: () => Promise<T>) => write(),
        dryRun: true,
        signal: request.work,
      };
      return inCluster(deps.clusters, provider, (cluster) =>
        // A copy: post-order.ts remembers per cluster where the next POST begins.
        postNodes({ ...cluster }, request.body, options),
      );
    },
  );
}
