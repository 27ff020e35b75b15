import { randomBytes } from 'node:crypto';
import { rfc3339 } from '../../../../api/condition.ts';
import { problem } from '../../../../api/node-configs-http.ts';
import { triggerAnswer, triggerParams, triggerPath } from '../../../../api/trigger-http.ts';
import type { HttpServer } from '../../../../http/app.ts';
import { everyBody, everyRoute, problemResponses } from '../../../../http/problem-responses.ts';
import { unlessAborted } from '../../../../requests/unless-aborted.ts';
import { admitCallers, type CallersDeps, provenSignature } from './callers.ts';
import type { ReconcileRequests } from './reconcile-requests.ts';

export interface TriggerRouteDeps extends CallersDeps {
  readonly requests: Pick<ReconcileRequests, 'request'>;
}

/** Longest body in bytes; the body serves only for signature checks. */
export const longestBody = 64 * 1024;

/** `POST /v1/triggers/openstackconfigs/{namespace}/{name}`: requests a sync of an OpenstackConfig, in every mode. */
export function serveTriggers(app: HttpServer, deps: TriggerRouteDeps): void {
  // Bodies stay unparsed, because a signature covers bytes.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.post(
    `${triggerPath}/:namespace/:name`,
    {
      config: { admit: admitCallers(deps) },
      schema: {
        operationId: 'triggerOpenstackConfig',
        summary: 'Sync an OpenstackConfig and deliver all its nodes',
        params: triggerParams,
        response: {
          202: triggerAnswer,
          ...problemResponses(problem, ...everyRoute, ...everyBody, 404),
        },
      },
    },
    async (request, reply) => {
      const { namespace, name } = request.params;
      const signature = await provenSignature(request, deps);
      // The same call at another replica has the same id, and therefore starts no second sync.
      const mark = signature?.hmac.slice(0, 16) ?? randomBytes(8).toString('hex');
      const at = signature ? new Date(Number(signature.timestamp) * 1000) : deps.clock.now();
      const requested = deps.requests.request({ namespace, name }, `${rfc3339(at)}-${mark}`);
      const id = await unlessAborted(requested, request.work).catch((error: unknown) => {
        // Clients repeat a failed call with its signature.
        if (signature) deps.used.forget(signature.hmac);
        throw error;
      });
      return reply.code(202).send({ id, namespace, name });
    },
  );
}
