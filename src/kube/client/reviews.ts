import * as z from 'zod';
import { keyOfAction } from '../rights.ts';
import type { KubeClient } from './client.ts';
import type { Transport } from './transport.ts';
import { parsed } from './wire.ts';

const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

const reviewSchema = z.object({
  status: z.object({ allowed: z.boolean(), evaluationError: z.string().default('') }),
});

/** The part of a client that asks what its identity may do. */
export function reviews(transport: Transport): Pick<KubeClient, 'mayI'> {
  return {
    async mayI(action, { signal } = {}) {
      const [resource, subresource] = action.resource.split('/');
      const answer = await transport.call({
        method: 'POST',
        path,
        body: {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectAccessReview',
          spec: { resourceAttributes: { ...action, resource, subresource } },
        },
        // Nothing is stored.
        repeatable: true,
        signal,
      });
      const { status } = parsed(reviewSchema, answer, `reviewing ${keyOfAction(action)}`);
      if (status.allowed) return 'yes';
      // An authorizer that could not decide, such as a webhook that is away: a request would be a 500, not a 403.
      return status.evaluationError === '' ? 'no' : 'undecided';
    },
  };
}
