import { stringify } from 'yaml';

const rbac = 'rbac.authorization.k8s.io';
const labels = { app: 'multinic-controller' };

/** Subset of the chart's rendering of the operator. */
const base = {
  deployment: {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'multinic-controller' },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'operator', image: 'multinic:v1', env: [] }] },
      },
    },
  },
};

/**
 * A MultiNicOperator that manages and protects an object of each kind, a namespace admin `editor`, and the chart's objects beside
 * lifecycle.
 */
export function installation(namespace: string) {
  const data = Object.entries(base).map(([key, object]) => [`${key}.yaml`, stringify(object)]);
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
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'multinic-controller-base', namespace },
      data: Object.fromEntries(data) as Record<string, string>,
    },
    {
      apiVersion: 'multinic.example.com/v1alpha1',
      kind: 'MultiNicOperator',
      metadata: { name: 'production', namespace },
      spec: {
        controller: { image: 'multinic:v1alpha1' },
        database: { enabled: true },
        reconcileTrigger: { mode: 'immediate' },
        protection: { enableMutationPrevention: true, enableAutoRecovery: true },
      },
    },
  ];
  return { apiVersion: 'v1', kind: 'List', items };
}
