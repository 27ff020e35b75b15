import {
  checkAnswer,
  checkRequest,
  nodeConfigsPath,
  problem,
  providerHeaders,
} from '../../api/node-configs-http.ts';
import type { Admit } from '../../http/admission.ts';
import type { HttpServer } from '../../http/app.ts';
import { everyBody, everyRoute, problemResponses } from '../../http/problem-responses.ts';
import { callerOf } from '../access/admit.ts';
import { inCluster } from '../access/in-cluster.ts';
import { requestCheck } from '../write/check-node.ts';
import { beginWrites } from '../write/write-limit.ts';
import { nodeParams } from './node-params.ts';
import type { PostDeps } from './post-route.ts';

/** Registers the route for checks by the controller. */
export function serveCheck(
  app: HttpServer,
  deps: PostDeps,
  { admit }: { readonly admit: Admit },
): void {
  app.post(
    `${nodeConfigsPath}/:node/check`,
    {
      config: { admit },
      schema: {
        operationId: 'checkNodeConfig',
        summary: 'Make the controller check the node, and apply what differs if heal is true',
        headers: providerHeaders,
        params: nodeParams,
        body: checkRequest,
        response: {
          202: checkAnswer,
          ...problemResponses(problem, ...everyRoute, 404, 409, ...everyBody),
        },
      },
    },
    async (request, reply) => {
      const { provider = '' } = callerOf(request);
      const inTime = beginWrites({ ...deps, signal: request.work });
      const { uid, generation } = await inCluster(deps.clusters, provider, (cluster) =>
        inTime((limited) => requestCheck(cluster, request.params.node, request.body, limited)),
      );
      return reply.code(202).send({ uid, generation });
    },
  );
}
