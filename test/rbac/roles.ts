import type { KubeClient } from '../../src/kube/client/client.ts';
import type { KubeObject, ObjectRef } from '../../src/kube/object.ts';
import { defineResource, type Resource } from '../../src/kube/resource.ts';

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

export interface Role extends KubeObject {
  readonly rules: readonly Rule[];
}

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' } as const;

export const roles = defineResource<Role>({
  ...rbac,
  plural: 'roles',
  kind: 'Role',
  namespaced: true,
});
export const clusterRoles = defineResource<Role>({
  ...rbac,
  plural: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
});

/** Replaces the rules of a role, and answers what they were. */
export async function setRules(
  admin: KubeClient,
  resource: Resource<Role>,
  ref: ObjectRef,
  change: (rules: readonly Rule[]) => readonly Rule[],
): Promise<readonly Rule[]> {
  const { rules } = await admin.get(resource, ref);
  await admin.patch(resource, ref, { rules: change(rules) });
  return rules;
}
