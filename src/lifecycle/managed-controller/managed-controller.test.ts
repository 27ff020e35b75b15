import type { Container, EnvVar } from 'kubernetes-types/core/v1.js';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { annotations } from '../../api/names.ts';
import type { ConfigMap, Deployment, Pod, Secret } from '../../kube/core-resources.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { ControllerWanted } from '../accept/accepted.ts';
import type { Observed, StagePlan } from '../stage.ts';
import { controller } from './managed-controller.ts';

const namespace = 'multinic-system';
const selector = { 'app.kubernetes.io/name': 'multinic-operator' };

const deployment = {
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
const service = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace, labels: selector },
  spec: { selector, ports: [{ name: 'health', port: 8082, targetPort: 'health' }] },
});
const budget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'multinic-controller', namespace },
  spec: { maxUnavailable: 1, selector: { matchLabels: selector } },
};
const data = {
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
const login: Secret = {
  metadata: { name: 'mariadb-credentials', namespace },
  data: { rootPassword: 'cg==', database: 'ZA==', user: 'dQ==', password: 'cA==', salt: 'cw==' },
};

interface Scene {
  readonly wanted?: Partial<ControllerWanted>;
  readonly data?: Readonly<Record<string, string>> | undefined;
  readonly live?: readonly (KubeObject & { readonly kind: string })[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly pods?: readonly Pod[];
  readonly legacyPods?: readonly Pod[];
  readonly status?: Observed['status'];
}

function planOf(scene: Scene): ReturnType<typeof controller> {
  const { live = [], pods = [], status = {} } = scene;
  const map = 'data' in scene ? scene.data : data;
  const base: ConfigMap | undefined = map && {
    metadata: { name: 'multinic-controller-base', namespace },
    data: map,
  };
  const none = { value: undefined } as unknown as { value: undefined };
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
    ...(base && { base }),
    ...(scene.legacyPods && { legacyPods: scene.legacyPods }),
    kubernetesMinor: 30,
    now: new Date(0),
  });
}

function applied(plan: StagePlan, kind: string): KubeObject | undefined {
  return plan.apply.find(({ resource }) => resource.kind === kind)?.object as
    | KubeObject
    | undefined;
}

function deploymentOf(scene: Scene): Deployment {
  const found = applied(planOf(scene), 'Deployment') as Deployment | undefined;
  if (!found) throw new Error('no Deployment is applied');
  return found;
}

function containerOf(scene: Scene): Container {
  const [container] = deploymentOf(scene).spec?.template.spec?.containers ?? [];
  if (!container) throw new Error('the Deployment has no container');
  return container;
}

function envOf(scene: Scene): Record<string, EnvVar['value'] | EnvVar['valueFrom']> {
  const entries = containerOf(scene).env ?? [];
  expect(new Set(entries.map(({ name }) => name)).size).toBe(entries.length);
  return Object.fromEntries(
    entries.map(({ name, value, valueFrom }) => [name, valueFrom ?? value]),
  );
}

const fromLogin = (key: string) => ({ secretKeyRef: { name: 'mariadb-credentials', key } });
const withLogin = { live: [{ ...login, kind: 'Secret' }] };

describe('the Deployment multinic-controller', () => {
  it("is the chart's with labels and owner when the spec is empty", () => {
    const found = deploymentOf({});
    const managed = {
      'multinic.example.com/protected': 'true',
      'multinic.example.com/managed-by-operator': 'multinic',
      app: 'multinic-controller',
    };
    expect(found.metadata).toMatchObject({
      labels: { ...selector, ...managed },
      ownerReferences: [{ kind: 'MultiNicOperator', name: 'multinic', uid: 'u1' }],
    });
    expect(found.spec?.template.metadata?.labels).toMatchObject(managed);
    expect(found.spec?.selector).toEqual(deployment.spec.selector);
    expect(found.spec).not.toHaveProperty('replicas');
    expect(found.spec?.template.spec).toEqual(deployment.spec.template.spec);
  });

  it.each<[string, Partial<ControllerWanted>, object]>([
    ['image', { image: 'registry/own:1' }, { image: 'registry/own:1' }],
    [
      'resources.cpu',
      { resources: { cpu: '200m' } },
      {
        resources: {
          requests: { cpu: '200m', memory: '128Mi' },
          limits: { cpu: '200m', memory: '448Mi' },
        },
        command: deployment.spec.template.spec.containers[0]?.command,
      },
    ],
    [
      'resources.memory',
      { resources: { memory: '256Mi' } },
      {
        resources: { requests: { cpu: '50m', memory: '256Mi' }, limits: { memory: '256Mi' } },
        // (256 - 64 - 3 * 4) / 1.25
        command: ['node', '--max-semi-space-size=4', '--max-old-space-size=144', '/app/main.mjs'],
      },
    ],
    [
      'healthProbe.port',
      { healthPort: 9000 },
      {
        ports: [
          { name: 'health', containerPort: 9000 },
          { name: 'inventory', containerPort: 18081 },
        ],
        livenessProbe: { httpGet: { path: '/healthz', port: 'health' } },
      },
    ],
    [
      'healthProbe.path',
      { livenessPath: '/readyz' },
      {
        livenessProbe: { httpGet: { path: '/readyz', port: 'health' } },
        readinessProbe: { httpGet: { path: '/readyz', port: 'health' } },
      },
    ],
  ])('follows spec.controller.%s', (_, wanted, expected) => {
    expect(containerOf({ wanted })).toMatchObject(expected);
  });

  it('follows spec.controller.replicas, and has a budget above 1', () => {
    const one = planOf({ wanted: { replicas: 1 } });
    expect(applied(one, 'Deployment')).toHaveProperty('spec.replicas', 1);
    expect(applied(one, 'PodDisruptionBudget')).toBeUndefined();
    const two = planOf({ wanted: { replicas: 2, inventory: 'external' } });
    expect(applied(two, 'Deployment')).toHaveProperty('spec.replicas', 2);
    expect(applied(two, 'PodDisruptionBudget')?.metadata.ownerReferences).toHaveLength(1);
    const scaled = { ...deployment, spec: { ...deployment.spec, replicas: 3 } };
    const byAutoscaler = planOf({ live: [scaled] });
    expect(applied(byAutoscaler, 'PodDisruptionBudget')).toBeDefined();
    expect(applied(byAutoscaler, 'Deployment')).not.toHaveProperty('spec.replicas');
  });

  it.each<[string, Partial<ControllerWanted>, object]>([
    ['of the chart', {}, { DB_TLS: 'true', HEALTH_ADDR: ':8082', LOG_LEVEL: 'info' }],
    ['of healthProbe.port', { healthPort: 9000 }, { HEALTH_ADDR: ':9000' }],
    [
      'of the spec before that of the chart',
      { env: [{ name: 'LOG_LEVEL', value: 'debug' }, { name: 'EMPTY' }] },
      { LOG_LEVEL: 'debug', EMPTY: '' },
    ],
    [
      'from a Secret of the user',
      { env: [{ name: 'LOG_LEVEL', valueFrom: fromLogin('level') }] },
      { LOG_LEVEL: fromLogin('level') },
    ],
    [
      'of default endpoints',
      { openstackDefaults: { OPENSTACK_DEFAULT_AUTH_URL: 'http://k:5000' } },
      { OPENSTACK_DEFAULT_AUTH_URL: 'http://k:5000' },
    ],
    [
      'of the built-in database',
      { inventory: 'built-in' },
      {
        DB_HOST: 'mariadb.multinic-system.svc',
        DB_PORT: '3306',
        DB_NAME: fromLogin('database'),
        DB_USER: fromLogin('user'),
        DB_PASSWORD: fromLogin('password'),
      },
    ],
    [
      'of an external database',
      { inventory: 'external', env: [{ name: 'DB_HOST', value: 'db.example.com' }] },
      { DB_HOST: 'db.example.com', DB_TLS: 'true' },
    ],
  ])('has the environment %s', (_, wanted, expected) => {
    const env = envOf({ wanted, ...withLogin });
    expect(env).toMatchObject(expected);
    // The built-in server has no TLS.
    expect('DB_TLS' in env).toBe(wanted.inventory !== 'built-in');
  });

  it.each(['built-in', 'external'] as const)(
    'has no volume of SQLite and rolls with an inventory that is %s',
    (inventory) => {
      const { spec } = deploymentOf({ wanted: { inventory }, ...withLogin });
      expect(spec?.strategy?.type).toBe('RollingUpdate');
      expect(spec?.template.spec?.volumes?.map(({ name }) => name)).toEqual(['ca']);
      const [container] = spec?.template.spec?.containers ?? [];
      expect(container?.volumeMounts?.map(({ name }) => name)).toEqual(['ca']);
    },
  );

  it('restarts its Pods for a new login, a restore and a new restart-at', () => {
    const podAnnotations = (scene: Scene) =>
      deploymentOf(scene).spec?.template.metadata?.annotations ?? {};
    const wanted = { inventory: 'built-in' } as const;
    const before = podAnnotations({ wanted, ...withLogin });
    expect(before).toHaveProperty(['multinic.io/credentials']);
    const rotated = { ...login, kind: 'Secret', data: { ...login.data, password: 'cTI=' } };
    const after = podAnnotations({ wanted, live: [rotated] });
    expect(after['multinic.io/credentials']).not.toBe(before['multinic.io/credentials']);
    const lastRestore = { at: '2026-01-01T00:00:00Z', result: 'Succeeded' };
    expect(
      podAnnotations({ wanted, ...withLogin, status: { databaseStatus: { lastRestore } } }),
    ).not.toEqual(before);
    expect(podAnnotations({ annotations: { [annotations.restartAt]: 'now' } })).toEqual({
      [annotations.restartAt]: 'now',
    });
  });

  it('keeps its login annotation while the Secret is deleted', () => {
    const template = { metadata: { annotations: { 'multinic.io/credentials': 'old' } } };
    const live = { ...deployment, spec: { ...deployment.spec, template } };
    const { spec } = deploymentOf({ wanted: { inventory: 'built-in' }, live: [live] });
    expect(spec?.template.metadata?.annotations?.['multinic.io/credentials']).toBe('old');
  });

  it('waits for a first login', () => {
    const plan = planOf({ wanted: { inventory: 'built-in' } });
    expect(plan.apply).toEqual([]);
    expect(plan.report).toMatchObject({
      phase: 'Pending',
      message: 'waits for Secret mariadb-credentials',
    });
  });
});

describe('objects that the base holds no more', () => {
  it('are removed', () => {
    const trigger = service('multinic-operator-trigger');
    expect(planOf({ live: [trigger, budget] }).remove.map(({ ref }) => ref.name)).toEqual([
      'multinic-operator-trigger',
      'multinic-controller',
    ]);
    const kept = { ...data, 'trigger-service.yaml': stringify(trigger) };
    expect(planOf({ data: kept, live: [trigger] }).remove).toEqual([]);
  });
});

describe('a base that cannot be used', () => {
  it.each<[string, Readonly<Record<string, string>> | undefined, string]>([
    ['missing', undefined, 'is missing'],
    ['empty', {}, 'is damaged: it holds no Deployment multinic-controller'],
    ['no YAML', { 'deployment.yaml': '{' }, 'is damaged: key deployment.yaml holds no object'],
    [
      'no container of ours',
      { 'deployment.yaml': stringify({ ...deployment, spec: {} }) },
      'is damaged: its Deployment has no container operator',
    ],
  ])('changes nothing and names the command to run: %s', (_, map, why) => {
    const plan = planOf({ data: map });
    expect([plan.apply, plan.remove]).toEqual([[], []]);
    expect(plan.notices).toMatchObject([{ condition: 'Stalled', reason: 'BaseUnusable' }]);
    expect(plan.notices[0]?.message).toContain(`ConfigMap multinic-controller-base ${why}`);
    expect(plan.notices[0]?.message).toContain('helm upgrade multinic-operator');
  });
});

describe('a legacy controller in the namespace', () => {
  const legacy = (replicas: number) => ({
    kind: 'Deployment',
    metadata: { name: 'multinic-controller-manager', namespace },
    spec: { replicas },
  });
  const takeOver = { [annotations.takeOver]: 'true' };
  const legacyPods: Pod[] = [{ metadata: { name: 'old-1', namespace } }];

  it.each<[string, Scene, { stops: boolean; installs: boolean; says?: string }]>([
    ['that runs', { live: [legacy(1)] }, { stops: false, installs: false, says: 'take-over=true' }],
    [
      'that is taken over',
      { live: [legacy(1)], annotations: takeOver },
      { stops: true, installs: false, says: 'is being scaled to 0' },
    ],
    [
      'whose last Pod ends',
      { live: [legacy(0)], annotations: takeOver, legacyPods },
      { stops: false, installs: false, says: '(1 left)' },
    ],
    [
      'that has ended',
      { live: [legacy(0)], annotations: takeOver },
      { stops: false, installs: true },
    ],
  ])('%s', (_, scene, { stops, installs, says }) => {
    const plan = planOf(scene);
    expect(plan.stop ?? []).toHaveLength(stops ? 1 : 0);
    expect(plan.apply.length > 0).toBe(installs);
    expect(plan.notices.map(({ condition }) => condition)).toEqual(
      installs ? [] : ['OtherControllerActive'],
    );
    expect(plan.notices[0]?.message ?? '').toContain(says ?? '');
    expect(plan.requeueAfterMs === undefined).toBe(installs);
  });
});

describe('the report', () => {
  const live = (status: object, spec: object = {}) => ({
    ...deployment,
    metadata: { ...deployment.metadata, generation: 2 },
    spec: { ...deployment.spec, replicas: 2, ...spec },
    status: { observedGeneration: 2, ...status },
  });
  const all = { replicas: 2, updatedReplicas: 2, readyReplicas: 2 };
  const pod = (waiting: object, more: object = {}): Pod => ({
    metadata: { name: 'p1', namespace, labels: { app: 'multinic-controller' } },
    status: {
      containerStatuses: [
        {
          name: 'operator',
          image: 'own:1',
          imageID: '',
          ready: false,
          restartCount: 0,
          state: { waiting },
          ...more,
        },
      ],
    },
  });
  const completed = [{ type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' }];
  const starting = live({ replicas: 2, updatedReplicas: 2 });

  it.each<[string, Scene, object]>([
    ['Pending', {}, { phase: 'Pending', readyReplicas: 0, desiredReplicas: 1 }],
    ['Ready', { live: [live(all)] }, { phase: 'Ready', readyReplicas: 2, desiredReplicas: 2 }],
    ['Progressing', { live: [live({ ...all, observedGeneration: 1 })] }, { phase: 'Progressing' }],
    ['Progressing', { live: [live({ ...all, updatedReplicas: 1 })] }, { phase: 'Progressing' }],
    ['Progressing', { live: [starting] }, { phase: 'Progressing' }],
    [
      'Degraded',
      { live: [live({ ...all, readyReplicas: 1, conditions: completed })] },
      { phase: 'Degraded', readyReplicas: 1 },
    ],
    [
      'Degraded',
      { live: [starting], pods: [pod({ reason: 'ErrImagePull', message: 'rpc error 1' })] },
      {
        phase: 'Degraded',
        message: 'Pod p1, container operator: ImagePullBackOff: image "own:1" cannot be pulled',
      },
    ],
    [
      'Degraded',
      {
        live: [starting],
        pods: [pod({ reason: 'CreateContainerConfigError', message: 'secret "x" not found' })],
      },
      { message: 'Pod p1, container operator: CreateContainerConfigError: secret "x" not found' },
    ],
    [
      'Degraded',
      {
        live: [starting],
        pods: [
          pod(
            { reason: 'CrashLoopBackOff', message: 'back-off 10s restarting' },
            { lastState: { terminated: { exitCode: 2, message: 'DB_PORT is wrong\nmore' } } },
          ),
        ],
      },
      { message: 'Pod p1, container operator: CrashLoopBackOff: exit code 2: DB_PORT is wrong' },
    ],
  ])('is %s', (_, scene, expected) => {
    expect(planOf(scene).report).toMatchObject(expected);
  });
});
