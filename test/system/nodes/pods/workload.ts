import type { ControlPlane } from '../../../../rig/control-plane/control-plane.ts';

export const namespace = 'strict';

const container = {
  name: 'probe',
  image: 'localhost/multinic-agent:dev',
  imagePullPolicy: 'IfNotPresent',
  readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
};

const restricted = {
  serviceAccountName: 'probe',
  terminationGracePeriodSeconds: 1,
  securityContext: {
    runAsNonRoot: true,
    runAsUser: 65_532,
    fsGroup: 65_532,
    seccompProfile: { type: 'RuntimeDefault' },
  },
};

const spread = {
  maxSkew: 1,
  topologyKey: 'kubernetes.io/hostname',
  whenUnsatisfiable: 'DoNotSchedule',
  labelSelector: { matchLabels: { app: 'probe' } },
};

/** A Deployment on two nodes behind a Service, and a Pod with a volume, under Pod Security `restricted`. */
const objects = [
  {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
  },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'probe', namespace } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'probe', namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'ServiceAccount', name: 'probe', namespace }],
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'probe', namespace },
    spec: { selector: { app: 'probe' }, ports: [{ port: 80, targetPort: 8080 }] },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'probe', namespace },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'probe' } },
      template: {
        metadata: { labels: { app: 'probe' } },
        spec: { ...restricted, topologySpreadConstraints: [spread], containers: [container] },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'kept', namespace },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'keeper', namespace },
    spec: {
      ...restricted,
      containers: [
        {
          ...container,
          env: [{ name: 'KEEP', value: '/kept/word' }],
          volumeMounts: [{ name: 'kept', mountPath: '/kept' }],
        },
      ],
      volumes: [{ name: 'kept', persistentVolumeClaim: { claimName: 'kept' } }],
    },
  },
];

/** Creates the workload and waits until all Pods run. */
export async function startWorkload(plane: ControlPlane): Promise<void> {
  const list = { apiVersion: 'v1', kind: 'List', items: objects };
  await plane.kubectl(['create', '-f', '-'], JSON.stringify(list));
  try {
    const wait = ['wait', '-n', namespace, '--timeout=60s'];
    await plane.kubectl([...wait, '--for=condition=Available', 'deployment/probe']);
    await plane.kubectl([...wait, '--for=condition=Ready', 'pod/keeper']);
  } catch (cause) {
    const seen = await plane.kubectl(['describe', 'pods', '-n', namespace]);
    throw new Error(`the workload does not run\n${seen}`, { cause });
  }
}
