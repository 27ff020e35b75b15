import * as z from 'zod';
import {
  base,
  deleteAnswer,
  deleteBasis,
  deleteReason,
  existingNodeConfig,
  nodeConfigsPath,
  problem,
  providerHeaders,
} from '../../api/node-configs-http.ts';
import type { Admit } from '../../http/admission.ts';
import type { HttpServer } from '../../http/app.ts';
import { everyRoute, problemResponses } from '../../http/problem-responses.ts';
import { callerOf } from '../access/admit.ts';
import { inCluster } from '../access/in-cluster.ts';
import { readNode } from '../read/read-nodes.ts';
import { deleteNode } from '../write/delete-node.ts';
import { beginWrites } from '../write/write-limit.ts';
import { nodeParams } from './node-params.ts';
import type { PostDeps } from './post-route.ts';

const errors = problemResponses(problem, ...everyRoute, 404);

/** Registers the read route for a node config. */
export function serveNode(
  app: HttpServer,
  { clusters, clock }: PostDeps,
  { admit }: { readonly admit: Admit },
): void {
  app.get(
    `${nodeConfigsPath}/:node`,
    {
      config: { admit },
      schema: {
        operationId: 'getNodeConfig',
        summary: 'Read one node config, without cache',
        headers: providerHeaders,
        params: nodeParams,
        response: { 200: existingNodeConfig, ...errors },
      },
    },
    async (request) => {
      const { provider = '' } = callerOf(request);
      const options = { clock, signal: request.work };
      return inCluster(clusters, provider, (cluster) =>
        readNode(cluster, request.params.node, options),
      );
    },
  );
}

const deletion = z
  .object({
    uid: base.shape.uid.optional(),
    generation: z.coerce.number().int().min(1).optional(),
    basis: wordIn(deleteBasis.options)
      .optional()
      .describe(
        'Why the NICs may leave: evidence that they are gone in OpenStack, consent by a user, or named (default): within the budget of removals.',
      ),
    reason: wordIn(deleteReason.options)
      .optional()
      .describe(
        'server-gone: evidence shows that the server is deleted; the deletion does not wait for its Node.',
      ),
    sourceUid: z
      .string()
      .max(64)
      .optional()
      .describe(
        'uid of the OpenstackConfig that delivers the node: 409 StaleBase after a different OpenstackConfig took the node over.',
      ),
  })
  .refine(({ uid, generation }) => (uid === undefined) === (generation === undefined), {
    path: ['generation'],
    error: 'uid and generation are the base together: send both, or neither',
  });

/** Returns a schema of words whose error names value and words. */
function wordIn<const T extends string>(words: readonly T[]) {
  return z.enum(words, {
    error: ({ input }) =>
      `"${String(input).slice(0, 64)}" is unknown: send ${words.join(', ')} or leave it out`,
  });
}

/** Registers the delete route for a node config. */
export function serveDeletion(
  app: HttpServer,
  deps: PostDeps,
  { admit }: { readonly admit: Admit },
): void {
  const { cache, clusters } = deps;
  app.delete(
    `${nodeConfigsPath}/:node`,
    {
      config: { admit },
      schema: {
        operationId: 'deleteNodeConfig',
        summary: 'Delete a node config; its node is cleaned first',
        headers: providerHeaders,
        params: nodeParams,
        querystring: deletion,
        response: { 202: deleteAnswer, ...errors, ...problemResponses(problem, 409) },
      },
    },
    async (request, reply) => {
      const { provider = '' } = callerOf(request);
      const { uid, generation, basis: on, reason: why, sourceUid } = request.query;
      const fence = uid === undefined || generation === undefined ? undefined : { uid, generation };
      const inTime = beginWrites({ ...deps, signal: request.work });
      const gone = await inCluster(clusters, provider, (cluster) =>
        inTime((limited) =>
          deleteNode(cluster, request.params.node, fence, {
            ...deps,
            ...limited,
            basis: on,
            reason: why,
            sourceUid,
          }),
        ),
      ).finally(() => cache.forget(provider));
      return reply.code(202).send(gone);
    },
  );
}
