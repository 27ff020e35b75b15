import type { ClusterRole, PolicyRule } from 'kubernetes-types/rbac/v1.js';
import { type Manifest, ofKind } from './manifests.ts';

/** What linters look for in single objects. */
export function objectFindings(manifests: readonly Manifest[]): string[] {
  const roles = [
    ...ofKind<ClusterRole>(manifests, 'ClusterRole'),
    ...ofKind<ClusterRole>(manifests, 'Role'),
  ];
  return [
    ...manifests.flatMap((manifest) =>
      looks.map((look) => named(manifest, look(manifest))).filter((text) => text !== undefined),
    ),
    ...roles.flatMap((role) =>
      (role.rules ?? []).flatMap((rule) =>
        ruleLooks.map((look) => named(role, look(rule, role))).filter((text) => text !== undefined),
      ),
    ),
    ...twins(manifests),
  ];
}

function named({ kind, metadata }: Manifest, text: string | false): string | undefined {
  return text === false ? undefined : `${kind} ${metadata?.name} ${text}`;
}

const clusterWide =
  /^(Namespace|PriorityClass|CustomResourceDefinition|ClusterRole|ClusterRoleBinding)$/;
const current: Readonly<Record<string, string>> = {
  Deployment: 'apps/v1',
  NetworkPolicy: 'networking.k8s.io/v1',
  PodDisruptionBudget: 'policy/v1',
};
const owned = ['instance', 'version', 'managed-by', 'part-of'];

const looks: readonly ((manifest: Manifest) => string | false)[] = [
  ({ kind = '', metadata }) =>
    !metadata?.namespace && !clusterWide.test(kind) && 'has no namespace',
  ({ kind = '', metadata }) =>
    Boolean(metadata?.namespace) && clusterWide.test(kind) && 'has a namespace',
  ({ kind = '', apiVersion }) =>
    (current[kind] ?? apiVersion) !== apiVersion && `is of the old ${apiVersion}`,
  ({ metadata }) => {
    const missing = owned.filter((key) => !metadata?.labels?.[`app.kubernetes.io/${key}`]);
    return missing.length > 0 && `does not say its ${missing.join(', ')}`;
  },
  ({ kind, metadata }) =>
    kind === 'Namespace' &&
    !metadata?.labels?.['pod-security.kubernetes.io/enforce'] &&
    'has no Pod Security',
];

const whereSecretsAreListed = ['multinic-clusters', 'nics-clusters'];

const ruleLooks: readonly ((rule: PolicyRule, role: ClusterRole) => string | false)[] = [
  ({ apiGroups = [], resources = [], verbs }) =>
    [...apiGroups, ...resources, ...verbs].includes('*') && 'grants *',
  ({ resources = [], resourceNames = [], verbs }, { metadata }) =>
    resources.includes('secrets') &&
    resourceNames.length === 0 &&
    ['list', 'watch'].some((verb) => verbs.includes(verb)) &&
    !whereSecretsAreListed.includes(metadata?.namespace ?? '') &&
    'lists Secrets',
  ({ resources = [] }) => resources.includes('pods/exec') && 'opens shells',
  ({ verbs }) =>
    ['escalate', 'bind', 'impersonate'].some((verb) => verbs.includes(verb)) && 'grows',
];

function twins(manifests: readonly Manifest[]): string[] {
  const names = manifests.map(({ kind, metadata }) =>
    [kind, metadata?.namespace ?? '', metadata?.name].join(' '),
  );
  return names
    .filter((name, index) => names.indexOf(name) !== index)
    .map((name) => `${name} is there twice`);
}
