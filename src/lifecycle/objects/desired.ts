import { labels } from '../../api/names.ts';
import type { Draft, KubeObject, OwnerReference } from '../../kube/object.ts';
import { apiVersionOf, type Resource } from '../../kube/resource.ts';
import type { Problem } from '../accept/accepted.ts';
import { multiNicOperators, type OperatorObject } from '../multinicoperator.ts';

/** An object as lifecycle wants it, complete: fields that are absent here are not owned by lifecycle. */
export interface Desired {
  readonly resource: Resource<KubeObject>;
  readonly object: Draft<KubeObject>;
  /** Problem of the spec when the API server refuses this object (403, 422) with that message; absent: the stage fails. */
  readonly problemIfRefused?: (message: string) => Problem;
}

/** Types the object by its resource. */
export function desired<T extends KubeObject>(resource: Resource<T>, object: Draft<T>): Desired {
  return { resource, object: object as unknown as Draft<KubeObject> };
}

/** Labels of every managed object, and of the Pods of Deployment and StatefulSet. */
export function managedLabels({ metadata }: OperatorObject): Record<string, string> {
  return { [labels.protected]: 'true', [labels.managedByOperator]: metadata.name };
}

/** Owner of what goes with the MultiNicOperator; Secret, claims and what is outside of namespaces have none. */
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
