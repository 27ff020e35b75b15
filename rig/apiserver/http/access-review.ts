import * as z from 'zod';
import type { Cluster } from '../cluster.ts';
import { defined, type JsonObject } from '../objects/json.ts';
import { invalid } from '../objects/status-error.ts';
import { apiVersionOf, type ResourceType, resourceOf } from '../resources/resource-type.ts';
import { invalidCause } from '../resources/strategies.ts';
import type { User } from './authentication.ts';
import { may, type ResourceAttributes } from './rbac.ts';

const text = z.string().default('');
const attributesEdge = z.object({
  verb: text,
  group: text,
  resource: text,
  subresource: text,
  namespace: text,
  name: text,
});
const reviewEdge = z.looseObject({
  spec: z.looseObject({ resourceAttributes: attributesEdge.optional() }).prefault({}),
});

/** Whether objects of this kind are questions: answered, never stored, and only ever created. */
export function isReview(type: ResourceType): boolean {
  return resourceOf(type) === 'selfsubjectaccessreviews.authorization.k8s.io';
}

/** Answers a SelfSubjectAccessReview about a resource by the stored roles; throws 422 when it asks about none. */
export function review(
  cluster: Cluster,
  user: User,
  type: ResourceType,
  body: JsonObject,
): JsonObject {
  const { resourceAttributes } = reviewEdge.parse(body).spec;
  if (!resourceAttributes) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    throw invalid(type, '', [invalidCause('spec.resourceAttributes', null, why)]);
  }
  return defined({
    kind: type.kind,
    apiVersion: apiVersionOf(type),
    metadata: {},
    spec: body['spec'],
    status: { allowed: may(cluster, user, attributesOf(resourceAttributes)) },
  });
}

function attributesOf(asked: z.infer<typeof attributesEdge>): ResourceAttributes {
  return {
    verb: asked.verb,
    group: asked.group,
    resource: asked.resource,
    subresource: asked.subresource || undefined,
    // An empty namespace is all of them, or an object outside of any.
    namespace: asked.namespace || undefined,
    name: asked.name || undefined,
  };
}
