const rbac = 'rbac.authorization.k8s.io';

/** A MultiNicOperator with protection, a namespace admin `editor`, and a Role as the chart installs it. */
export function installation(namespace: string) {
  const items = [
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name: 'editor', namespace },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'admin' },
      subjects: [{ apiGroup: rbac, kind: 'User', name: 'editor' }],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata: { name: 'multinic-lifecycle', namespace },
      rules: [],
    },
    {
      apiVersion: 'multinic.example.com/v1alpha1',
      kind: 'MultiNicOperator',
      metadata: { name: 'production', namespace },
      spec: { protection: { enableMutationPrevention: true, enableAutoRecovery: true } },
    },
  ];
  return { apiVersion: 'v1', kind: 'List', items };
}
