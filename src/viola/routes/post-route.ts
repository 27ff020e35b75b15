import * as z from 'zod';
import type { Effect } from '../../api/effects.ts';
import {
  nodeConfigsPath,
  postAnswer,
  postedNodes,
  postHeaders,
  problem,
  resultsPreference,
} from '../../api/node-configs-http.ts';
import type { Admit } from '../../http/admission.ts';
import type { HttpServer } from '../../http/app.ts';
import { everyBody, everyRoute, problemResponses } from '../../http/problem-responses.ts';
import type { Perform } from '../../process/effects.ts';
import type { Clock } from '../../time/clock.ts';
import { callerOf } from '../access/admit.ts';
import { inCluster } from '../access/in-cluster.ts';
import type { Clusters } from '../clusters/clusters.ts';
import { postNodes } from '../write/post-nodes.ts';
import type { AnswerCache } from './answer-cache.ts';
import { answerStatus } from './answer-status.ts';
import { refusedPost, refusedPostBody } from './refused-post.ts';

export interface PostDeps {
  readonly clusters: Clusters;
  readonly cache: AnswerCache;
  readonly clock: Clock;
  readonly perform: Perform<Effect>;
  readonly acceptUnfenced: boolean;
  readonly takeOver: boolean;
  readonly parallel: number;
}

export interface Posting {
  readonly admit: Admit;
  /** True if callers may declare that they read results behind a 200. */
  readonly readsResults: boolean;
}

const refusals = problemResponses(z.union([refusedPost, problem]), 409, 422, 503);

/** Registers the route for writing nodes. */
export function servePost(app: HttpServer, deps: PostDeps, { admit, readsResults }: Posting): void {
  const { cache, clusters } = deps;
  app.post(
    nodeConfigsPath,
    {
      config: { admit },
      schema: {
        operationId: 'postNodeConfigs',
        summary: 'Create or update node configs',
        headers: postHeaders,
        body: postedNodes,
        response: {
          200: postAnswer,
          ...problemResponses(problem, ...everyRoute, 404, ...everyBody),
          ...refusals,
        },
      },
    },
    async (request, reply) => {
      const { provider = '' } = callerOf(request);
      const options = { ...deps, signal: request.work };
      const answer = await inCluster(clusters, provider, (cluster) =>
        postNodes(cluster, request.body, options),
      ).finally(() => cache.forget(provider)); // also after a disconnect
      const preferences = (request.headers.prefer ?? '').split(/[,;]\s*/);
      const reads = readsResults && preferences.includes(resultsPreference);
      const status = answerStatus(answer, reads);
      if (status === 200) return answer;
      const body = refusedPostBody(answer, { status, requestId: request.id });
      return reply
        .code(status as 409)
        .type('application/problem+json')
        .send(body);
    },
  );
}
