import { labels } from '../../api/names.ts';
import type { Draft, KubeObject, OwnerReference } from '../../kube/object.ts';
import { apiVersionOf, type Resource } from '../../kube/resource.ts';
import type { Problem } from './accepted.ts';
import { multiNicOperators, type OperatorObject } from './multinicoperator.ts';

/** A complete desired object: lifecycle does not own absent fields. */
export interface Desired {
  readonly resource: Resource<KubeObject>;
  readonly object: Draft<KubeObject>;
  /** Returns the spec problem when the API server refuses this object (403, 422); absent: the stage fails. */
  readonly problemIfRefused?: (message: string) => Problem;
}

/** Types the object by its resource. */
export function desired<T extends KubeObject>(resource: Resource<T>, object: Draft<T>): Desired {
  return { resource, object: object as unknown as Draft<KubeObject> };
}

/** Returns the labels for every managed object, and for Pods of the Deployment and StatefulSet. */
export function managedLabels({ metadata }: OperatorObject): Record<string, string> {
  return { [labels.protected]: 'true', [labels.managedByOperator]: metadata.name };
}

/**
 * Returns the owner reference for objects deleted with the MultiNicOperator; Secret, claims and cluster-scoped objects
 * have none.
 */
export function ownedBy({ metadata }: OperatorObject): OwnerReference {
  return {
    apiVersion: apiVersionOf(multiNicOperators),
    kind: multiNicOperators.kind,
    name: metadata.name,
    uid: metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: false,
  };
}
