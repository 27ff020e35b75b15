import type { Deployment } from 'kubernetes-types/apps/v1.js';
import type { Container, PodSpec, Service } from 'kubernetes-types/core/v1.js';
import type { NetworkPolicy } from 'kubernetes-types/networking/v1.js';
import type { ClusterRole, RoleBinding } from 'kubernetes-types/rbac/v1.js';
import { type Manifest, ofKind } from './manifests.ts';

/** What a fault may be planted in. */
export interface Ground {
  readonly manifests: Manifest[];
  /** Of the operator: one replica. */
  readonly deployment: Deployment;
  readonly labels: Record<string, string>;
  readonly pod: PodSpec;
  readonly container: Container;
}

/** What is found, and what makes it so. */
export type Fault = readonly [found: string, plant: (ground: Ground) => void];

const security = ({ container }: Ground) => {
  container.securityContext ??= {};
  return container.securityContext;
};

const ofPods: readonly Fault[] = [
  [
    'uses the default ServiceAccount',
    ({ pod }) => Object.assign(pod, { serviceAccountName: 'default' }),
  ],
  [
    'has replicas that may be on one node',
    ({ deployment }) => Object.assign(deployment.spec ?? {}, { replicas: 2 }),
  ],
  ['is in a namespace of its host', ({ pod }) => Object.assign(pod, { hostPID: true })],
  [
    'mounts a path of its host',
    ({ pod, container }) => {
      pod.volumes?.push({ name: 'host', hostPath: { path: '/var/run/docker.sock' } });
      container.volumeMounts?.push({ name: 'host', mountPath: '/docker.sock' });
    },
  ],
  [
    'may run as root',
    ({ pod }) => Object.assign(pod.securityContext ?? {}, { runAsNonRoot: false }),
  ],
  ['has no seccomp profile', ({ pod }) => delete pod.securityContext?.seccompProfile],
  [
    'sets sysctls',
    ({ pod }) =>
      Object.assign(pod.securityContext ?? {}, {
        sysctls: [{ name: 'kernel.msgmax', value: '1' }],
      }),
  ],
  ['does not say whether it uses the token', ({ pod }) => delete pod.automountServiceAccountToken],
  ['is told of Services by environment', ({ pod }) => delete pod.enableServiceLinks],
  [
    'has less than 30 s to end',
    ({ pod }) => Object.assign(pod, { terminationGracePeriodSeconds: 10 }),
  ],
  [
    'mounts nothing, which is no volume',
    ({ container }) => container.volumeMounts?.push({ name: 'nothing', mountPath: '/nothing' }),
  ],
  [
    'has a volume spare that nobody mounts',
    ({ pod }) => pod.volumes?.push({ name: 'spare', emptyDir: {} }),
  ],
];

const ofContainers: readonly Fault[] = [
  ['has an image without version', ({ container }) => Object.assign(container, { image: 'a/b' })],
  [
    'has an image without version',
    ({ container }) => Object.assign(container, { image: 'a:latest' }),
  ],
  ['asks for no CPU', ({ container }) => delete container.resources?.requests?.['cpu']],
  ['asks for no memory', ({ container }) => delete container.resources?.requests?.['memory']],
  ['has no limit of memory', ({ container }) => delete container.resources?.limits],
  ['is privileged', (ground) => Object.assign(security(ground), { privileged: true })],
  ['may gain privileges', (ground) => delete security(ground).allowPrivilegeEscalation],
  ['may write to its root', (ground) => delete security(ground).readOnlyRootFilesystem],
  [
    'has capabilities',
    (ground) =>
      Object.assign(security(ground), { capabilities: { drop: ['ALL'], add: ['NET_RAW'] } }),
  ],
  ['has capabilities', (ground) => delete security(ground).capabilities],
  ['serves SSH', ({ container }) => container.ports?.push({ name: 'ssh', containerPort: 22 })],
  [
    'has HEALTH_ADDR twice',
    ({ container }) => container.env?.push({ name: 'HEALTH_ADDR', value: ':1' }),
  ],
  [
    'has health twice',
    ({ container }) => container.ports?.push({ name: 'health', containerPort: 1 }),
  ],
  [
    'has DB_PASSWORD in sight',
    ({ container }) => container.env?.push({ name: 'DB_PASSWORD', value: 'hunter2' }),
  ],
  ['has no liveness probe', ({ container }) => delete container.livenessProbe],
  ['has no readiness probe', ({ container }) => delete container.readinessProbe],
  ['has no startup probe', ({ container }) => delete container.startupProbe],
  [
    'is asked at port http, which it has not',
    ({ container }) => Object.assign(container.livenessProbe?.httpGet ?? {}, { port: 'http' }),
  ],
];

function serviceOf(manifests: readonly Manifest[], name: string): Service {
  const found = ofKind<Service>(manifests, 'Service').find((one) => one.metadata?.name === name);
  if (!found) throw new Error(`there is no Service ${name}`);
  return found;
}

function bindingOf(manifests: readonly Manifest[], name: string): RoleBinding {
  const all = ofKind<RoleBinding>(manifests, 'RoleBinding');
  const found = all.find((one) => one.metadata?.name === name);
  if (!found) throw new Error(`there is no RoleBinding ${name}`);
  return found;
}

function role(rule: NonNullable<ClusterRole['rules']>[number]): Fault[1] {
  return ({ manifests, labels }) => {
    const metadata = { name: 'planted', namespace: 'multinic-operator-system', labels };
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    manifests.push({ apiVersion, kind: 'Role', metadata, rules: [rule] } as Manifest);
  };
}

const ofObjects: readonly Fault[] = [
  [
    'Deployment multinic-operator-controller-manager has no namespace',
    ({ deployment }) => delete deployment.metadata?.namespace,
  ],
  [
    'is of the old extensions/v1beta1',
    ({ deployment }) => Object.assign(deployment, { apiVersion: 'extensions/v1beta1' }),
  ],
  [
    'does not say its part-of',
    ({ deployment }) => delete deployment.metadata?.labels?.['app.kubernetes.io/part-of'],
  ],
  [
    'Namespace multinic-system has no Pod Security',
    ({ manifests }) =>
      delete ofKind(manifests, 'Namespace')[0]?.metadata?.labels?.[
        'pod-security.kubernetes.io/enforce'
      ],
  ],
  ['has no ServiceAccount', ({ pod }) => Object.assign(pod, { serviceAccountName: 'nobody' })],
  [
    'has a priority urgent that is not',
    ({ pod }) => Object.assign(pod, { priorityClassName: 'urgent' }),
  ],
  [
    'selects other Pods',
    ({ deployment }) => Object.assign(deployment.spec?.selector.matchLabels ?? {}, { tier: 'one' }),
  ],
  [
    'has no budget of disruptions',
    ({ deployment, pod }) => {
      Object.assign(deployment.spec ?? {}, { replicas: 2 });
      pod.topologySpreadConstraints = [];
    },
  ],
  [
    'holds up every drain',
    ({ manifests, deployment, labels }) => {
      const spec = { maxUnavailable: 1, selector: deployment.spec?.selector };
      const metadata = { name: 'planted', namespace: 'multinic-operator-system', labels };
      const kind = 'PodDisruptionBudget';
      manifests.push({ apiVersion: 'policy/v1', kind, metadata, spec } as Manifest);
    },
  ],
  [
    'may talk to everybody',
    ({ manifests }) => {
      const [policy] = ofKind<NetworkPolicy>(manifests, 'NetworkPolicy');
      if (policy) manifests.splice(manifests.indexOf(policy), 1);
    },
  ],
  ...(
    [
      ['selects no Pod of ours', {}],
      ['selects no Pod of ours', { matchLabels: { app: 'gone' } }],
      ['selects Pods of others', { matchLabels: { 'app.kubernetes.io/part-of': 'multinic' } }],
    ] as const
  ).map(
    ([found, podSelector]): Fault => [
      `NetworkPolicy viola-api ${found}`,
      ({ manifests, labels }) => {
        const metadata = { name: 'viola-api', namespace: 'other', labels };
        const spec = { podSelector, policyTypes: ['Ingress'] };
        const apiVersion = 'networking.k8s.io/v1';
        manifests.push({ apiVersion, kind: 'NetworkPolicy', metadata, spec } as Manifest);
      },
    ],
  ),
  [
    'Service viola-api has 0 workloads',
    ({ manifests }) =>
      Object.assign(serviceOf(manifests, 'viola-api').spec?.selector ?? {}, { tier: 'one' }),
  ],
  [
    'Service viola-api leads to grpc, which is no port',
    ({ manifests }) =>
      Object.assign(serviceOf(manifests, 'viola-api').spec?.ports?.[0] ?? {}, {
        targetPort: 'grpc',
      }),
  ],
  [
    'ServiceMonitor viola-api finds no port',
    ({ manifests, labels }) => {
      const matchLabels = { 'app.kubernetes.io/component': 'viola' };
      const spec = { selector: { matchLabels }, endpoints: [{ port: 'metrics' }] };
      const metadata = { name: 'viola-api', namespace: 'multinic-operator-system', labels };
      const apiVersion = 'monitoring.coreos.com/v1';
      manifests.push({ apiVersion, kind: 'ServiceMonitor', metadata, spec } as Manifest);
    },
  ],
  ['Role planted grants *', role({ apiGroups: ['*'], resources: ['nodes'], verbs: ['get'] })],
  [
    'Role planted lists Secrets',
    role({ apiGroups: [''], resources: ['secrets'], verbs: ['list'] }),
  ],
  [
    'Role planted opens shells',
    role({ apiGroups: [''], resources: ['pods/exec'], verbs: ['get'] }),
  ],
  ['Role planted grows', role({ apiGroups: [''], resources: ['users'], verbs: ['impersonate'] })],
  [
    'RoleBinding viola-api binds no role',
    ({ manifests }) => Object.assign(bindingOf(manifests, 'viola-api').roleRef, { name: 'gone' }),
  ],
  [
    'RoleBinding viola-api is for nobody, who is not there',
    ({ manifests }) =>
      Object.assign(bindingOf(manifests, 'viola-api').subjects?.[0] ?? {}, { name: 'nobody' }),
  ],
  [
    'Service multinic-operator-system viola-api is there twice',
    ({ manifests }) => {
      const same = serviceOf(manifests, 'viola-api');
      Object.assign(serviceOf(manifests, 'multinic-operator-metrics'), structuredClone(same));
    },
  ],
];

export const faults: readonly Fault[] = [...ofPods, ...ofContainers, ...ofObjects];
