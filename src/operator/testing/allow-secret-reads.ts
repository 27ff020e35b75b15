import type { KubeClient } from '../../kube/client/client.ts';
import { roleBindings, roles } from '../../kube/core-resources.ts';

/** Grants the operator read access to Secrets, as an administrator does for a namespace with OpenstackConfigs. */
export async function allowSecretReads(
  admin: Pick<KubeClient, 'create'>,
  of: string,
  operator: string,
): Promise<void> {
  const metadata = { namespace: of, name: 'multinic-operator-secrets' };
  const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }];
  await admin.create(roles, { metadata, rules });
  const [, , subjectNamespace = '', subject = ''] = operator.split(':');
  await admin.create(roleBindings, {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name },
    subjects: [{ kind: 'ServiceAccount', namespace: subjectNamespace, name: subject }],
  });
}
