import * as z from 'zod';
import { keyOfAction } from '../rights.ts';
import type { KubeClient } from './client.ts';
import type { Transport } from './transport.ts';
import { parsed } from './wire.ts';

const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

const reviewSchema = z.object({
  status: z.object({ allowed: z.boolean(), evaluationError: z.string().default('') }),
});

/** Creates the client method for access reviews. */
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
        // Idempotent: reviews are not stored.
        repeatable: true,
        signal,
      });
      const { status } = parsed(reviewSchema, answer, `reviewing ${keyOfAction(action)}`);
      if (status.allowed) return 'yes';
      // An authorizer failed to decide, such as an unavailable webhook: a real request would get 500, not 403.
      return status.evaluationError === '' ? 'no' : 'undecided';
    },
  };
}
