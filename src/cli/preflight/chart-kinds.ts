import type { Verb } from '../../kube/rights.ts';

/** Kind that an installation writes. */
export interface ChartKind {
  /** Empty: the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
}

/** Verbs that helm and kubectl apply use for the objects of a chart. */
const ofObjects: readonly Verb[] = ['get', 'create', 'patch', 'delete'];

/** Verbs that helm uses for the Secrets in which it stores releases. */
const ofReleases: readonly Verb[] = ['get', 'list', 'create', 'update', 'delete'];

const inNamespace = (group: string, version: string, kind: string, plural: string): ChartKind => ({
  group,
  version,
  plural,
  kind,
  namespaced: true,
  verbs: ofObjects,
});

const ofCluster = (group: string, version: string, kind: string, plural: string): ChartKind => ({
  group,
  version,
  plural,
  kind,
  namespaced: false,
  verbs: ofObjects,
});

const rbac = 'rbac.authorization.k8s.io';

/** Kinds in both charts and for their releases, without kinds for optional integrations such as Prometheus. */
const shared: readonly ChartKind[] = [
  ofCluster('', 'v1', 'Namespace', 'namespaces'),
  inNamespace('', 'v1', 'ServiceAccount', 'serviceaccounts'),
  inNamespace('', 'v1', 'Service', 'services'),
  inNamespace('', 'v1', 'ConfigMap', 'configmaps'),
  { ...inNamespace('', 'v1', 'Secret', 'secrets'), verbs: ofReleases },
  inNamespace('', 'v1', 'Pod', 'pods'),
  inNamespace('apps', 'v1', 'Deployment', 'deployments'),
  inNamespace('policy', 'v1', 'PodDisruptionBudget', 'poddisruptionbudgets'),
  inNamespace('networking.k8s.io', 'v1', 'NetworkPolicy', 'networkpolicies'),
  inNamespace(rbac, 'v1', 'Role', 'roles'),
  inNamespace(rbac, 'v1', 'RoleBinding', 'rolebindings'),
  ofCluster(rbac, 'v1', 'ClusterRole', 'clusterroles'),
  ofCluster(rbac, 'v1', 'ClusterRoleBinding', 'clusterrolebindings'),
  ofCluster('scheduling.k8s.io', 'v1', 'PriorityClass', 'priorityclasses'),
  ofCluster('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition', 'customresourcedefinitions'),
];

/** Kinds by chart. */
export const chartKinds = {
  'multinic-operator': [
    ...shared,
    inNamespace('', 'v1', 'PersistentVolumeClaim', 'persistentvolumeclaims'),
  ],
  'multinic-agent': [...shared, inNamespace('batch', 'v1', 'Job', 'jobs')],
} as const satisfies Readonly<Record<string, readonly ChartKind[]>>;
