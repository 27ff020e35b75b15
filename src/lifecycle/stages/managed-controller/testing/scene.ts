import type { Container, EnvVar } from 'kubernetes-types/core/v1.js';
import { expect } from 'vitest';
import { stringify } from 'yaml';
import type { ConfigMap, Deployment, Pod, Secret } from '../../../../kube/core-resources.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import type { ControllerWanted } from '../../../model/accepted.ts';
import type { Observed, StagePlan } from '../../../model/stage.ts';
import { controller } from '../managed-controller.ts';

export const namespace = 'multinic-system';
export const selector = { 'app.kubernetes.io/name': 'multinic-operator' };

export const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'multinic-controller', namespace, labels: selector },
  spec: {
    strategy: { type: 'Recreate' },
    selector: { matchLabels: selector },
    template: {
      metadata: { labels: { ...selector, app: 'multinic-controller' } },
      spec: {
        serviceAccountName: 'multinic-controller',
        containers: [
          {
            name: 'operator',
            image: 'localhost/multinic-controllers:0.1.0',
            command: [
              'node',
              '--max-semi-space-size=4',
              '--max-old-space-size=288',
              '/app/main.mjs',
            ],
            args: ['operator'],
            ports: [
              { name: 'health', containerPort: 8082 },
              { name: 'inventory', containerPort: 18081 },
            ],
            env: [
              { name: 'DB_TLS', value: 'true' },
              { name: 'HEALTH_ADDR', value: ':8082' },
              { name: 'LOG_LEVEL', value: 'info' },
            ],
            livenessProbe: { httpGet: { path: '/healthz', port: 'health' } },
            readinessProbe: { httpGet: { path: '/readyz', port: 'health' } },
            resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '448Mi' } },
            volumeMounts: [
              { name: 'inventory', mountPath: '/var/lib/multinic-operator' },
              { name: 'ca', mountPath: '/etc/multinic/ca' },
            ],
          },
        ],
        volumes: [
          {
            name: 'inventory',
            persistentVolumeClaim: { claimName: 'multinic-operator-inventory' },
          },
          { name: 'ca', configMap: { name: 'corporate-ca' } },
        ],
      },
    },
  },
};
export const service = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace, labels: selector },
  spec: { selector, ports: [{ name: 'health', port: 8082, targetPort: 'health' }] },
});
export const budget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'multinic-controller', namespace },
  spec: { maxUnavailable: 1, selector: { matchLabels: selector } },
};
export const data = {
  'deployment.yaml': stringify(deployment),
  'metrics-service.yaml': stringify(service('multinic-operator-metrics')),
  'disruption-budget.yaml': stringify(budget),
};

const nothing: ControllerWanted = {
  resources: {},
  env: [],
  inventory: 'sqlite',
  openstackDefaults: {},
};
export const login: Secret = {
  metadata: { name: 'mariadb-credentials', namespace },
  data: {
    rootPassword: 'cg==',
    database: 'ZA==',
    user: 'dQ==',
    password: 'cA==',
    salt: 'cw==',
    backupPassword: 'Yg==',
  },
};

export interface ControllerInput {
  readonly wanted?: Partial<ControllerWanted>;
  readonly data?: Readonly<Record<string, string>> | undefined;
  readonly live?: readonly (KubeObject & { readonly kind: string })[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly pods?: readonly Pod[];
  readonly legacyPods?: readonly Pod[];
  readonly status?: Observed['status'];
}

export function planOf(scene: ControllerInput): ReturnType<typeof controller> {
  const { live = [], pods = [], status = {} } = scene;
  const map = 'data' in scene ? scene.data : data;
  const base: ConfigMap | undefined = map && {
    metadata: { name: 'multinic-controller-base', namespace },
    data: map,
  };
  const none = { value: undefined };
  return controller({
    operator: {
      metadata: { name: 'multinic', namespace, uid: 'u1', annotations: scene.annotations ?? {} },
    },
    status,
    accepted: {
      credentials: { value: { database: 'multinic', user: 'multinic' } },
      database: none,
      backup: none,
      triggers: none,
      controller: { value: { ...nothing, ...scene.wanted } },
      protection: { value: { preventsMutations: false, recovers: true, allowed: new Set() } },
    },
    namespace,
    objects: {
      find: ({ kind }, name) =>
        live.find((one) => one.kind === kind && one.metadata.name === name) as never,
    },
    pods,
    jobs: [],
    ...(base && { base }),
    ...(scene.legacyPods && { legacyPods: scene.legacyPods }),
    kubernetesMinor: 30,
    now: new Date(0),
  });
}

export function applied(plan: StagePlan, kind: string): KubeObject | undefined {
  return plan.apply.find(({ resource }) => resource.kind === kind)?.object;
}

export function deploymentOf(scene: ControllerInput): Deployment {
  const found = applied(planOf(scene), 'Deployment');
  if (!found) throw new Error('no Deployment is applied');
  return found;
}

export function containerOf(scene: ControllerInput): Container {
  const [container] = deploymentOf(scene).spec?.template.spec?.containers ?? [];
  if (!container) throw new Error('the Deployment has no container');
  return container;
}

export function envOf(
  scene: ControllerInput,
): Record<string, EnvVar['value'] | EnvVar['valueFrom']> {
  const entries = containerOf(scene).env ?? [];
  expect(new Set(entries.map(({ name }) => name)).size).toBe(entries.length);
  return Object.fromEntries(
    entries.map(({ name, value, valueFrom }) => [name, valueFrom ?? value]),
  );
}
