import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { annotations } from '../../../api/names.ts';
import type { ControllerWanted } from '../../model/accepted.ts';
import {
  applied,
  budget,
  type ControllerInput,
  containerOf,
  data,
  deployment,
  deploymentOf,
  envOf,
  login,
  planOf,
  selector,
  service,
} from './testing/scene.ts';

const fromLogin = (key: string) => ({ secretKeyRef: { name: 'mariadb-credentials', key } });
function podAnnotations(scene: ControllerInput): Readonly<Record<string, string>> {
  return deploymentOf(scene).spec?.template.metadata?.annotations ?? {};
}

function namesOf(all: readonly { readonly name: string }[] = []): string[] {
  return all.map(({ name }) => name);
}

const withLogin = { live: [{ ...login, kind: 'Secret' }] };

describe('Deployment multinic-controller', () => {
  it("the Deployment equals the chart's plus labels and owner when the spec is empty", () => {
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
  ])('the Deployment follows spec.controller.%s', (_, wanted, expected) => {
    expect(containerOf({ wanted })).toMatchObject(expected);
  });

  it('the Deployment follows spec.controller.replicas, with a PodDisruptionBudget above 1', () => {
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
    ['from the chart', {}, { DB_TLS: 'true', HEALTH_ADDR: ':8082', LOG_LEVEL: 'info' }],
    ['from healthProbe.port', { healthPort: 9000 }, { HEALTH_ADDR: ':9000' }],
    [
      'from the spec, overriding the chart',
      { env: [{ name: 'LOG_LEVEL', value: 'debug' }, { name: 'EMPTY' }] },
      { LOG_LEVEL: 'debug', EMPTY: '' },
    ],
    [
      'from a user’s Secret',
      { env: [{ name: 'LOG_LEVEL', valueFrom: fromLogin('level') }] },
      { LOG_LEVEL: fromLogin('level') },
    ],
    [
      'from default endpoints',
      { openstackDefaults: { OPENSTACK_DEFAULT_AUTH_URL: 'http://k:5000' } },
      { OPENSTACK_DEFAULT_AUTH_URL: 'http://k:5000' },
    ],
    [
      'for the built-in database',
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
      'for an external database',
      { inventory: 'external', env: [{ name: 'DB_HOST', value: 'db.example.com' }] },
      { DB_HOST: 'db.example.com', DB_TLS: 'true' },
    ],
  ])('the Deployment has the environment %s', (_, wanted, expected) => {
    const env = envOf({ wanted, ...withLogin });
    expect(env).toMatchObject(expected);
    // The built-in server has no TLS.
    expect('DB_TLS' in env).toBe(wanted.inventory !== 'built-in');
  });

  it.each(['built-in', 'external'] as const)(
    'the Deployment has no SQLite volume and uses RollingUpdate with inventory %s',
    (inventory) => {
      const scene = { wanted: { inventory }, ...withLogin };
      const { spec } = deploymentOf(scene);
      expect(spec?.strategy?.type).toBe('RollingUpdate');
      expect(namesOf(spec?.template.spec?.volumes)).toEqual(['ca']);
      expect(namesOf(containerOf(scene).volumeMounts)).toEqual(['ca']);
    },
  );

  it('the Pods restart after a new login and a new restart-at', () => {
    const wanted = { inventory: 'built-in' } as const;
    const before = podAnnotations({ wanted, ...withLogin });
    expect(before).toHaveProperty(['multinic.io/credentials']);
    const rotated = { ...login, kind: 'Secret', data: { ...login.data, password: 'cTI=' } };
    const after = podAnnotations({ wanted, live: [rotated] });
    expect(after['multinic.io/credentials']).not.toBe(before['multinic.io/credentials']);
    expect(podAnnotations({ annotations: { [annotations.restartAt]: 'now' } })).toEqual({
      [annotations.restartAt]: 'now',
    });
  });

  it('the login annotation stays while the Secret is deleted', () => {
    const template = { metadata: { annotations: { 'multinic.io/credentials': 'old' } } };
    const live = { ...deployment, spec: { ...deployment.spec, template } };
    const scene = { wanted: { inventory: 'built-in' }, live: [live] } as const;
    expect(podAnnotations(scene)['multinic.io/credentials']).toBe('old');
  });

  it('the Deployment waits for the first login', () => {
    const plan = planOf({ wanted: { inventory: 'built-in' } });
    expect(plan.apply).toEqual([]);
    expect(plan.report).toMatchObject({
      phase: 'Pending',
      message: 'waits for Secret mariadb-credentials',
    });
  });
});

describe('objects removed from the base', () => {
  it('objects removed from the base are deleted', () => {
    const trigger = service('multinic-operator-trigger');
    expect(planOf({ live: [trigger, budget] }).remove.map(({ ref }) => ref.name)).toEqual([
      'multinic-operator-trigger',
      'multinic-controller',
    ]);
    const kept = { ...data, 'trigger-service.yaml': stringify(trigger) };
    expect(planOf({ data: kept, live: [trigger] }).remove).toEqual([]);
  });
});

describe('an unusable base', () => {
  it.each<[string, Readonly<Record<string, string>> | undefined, string]>([
    ['missing', undefined, 'is missing'],
    ['empty', {}, 'is damaged: it has no Deployment multinic-controller'],
    ['no YAML', { 'deployment.yaml': '{' }, 'is damaged: key deployment.yaml is not an object'],
    [
      'no container of ours',
      { 'deployment.yaml': stringify({ ...deployment, spec: {} }) },
      'is damaged: its Deployment has no container operator',
    ],
  ])('an unusable base changes nothing and names the command to run: %s', (_, map, why) => {
    const plan = planOf({ data: map });
    expect([plan.apply, plan.remove]).toEqual([[], []]);
    expect(plan.notices).toMatchObject([{ condition: 'Stalled', reason: 'BaseUnusable' }]);
    expect(plan.notices[0]?.message).toContain(`ConfigMap multinic-controller-base ${why}`);
    expect(plan.notices[0]?.message).toContain('helm upgrade multinic-operator');
  });
});

describe('a changed inventory', () => {
  const built = deploymentOf({ ...withLogin, wanted: { inventory: 'built-in' } });
  const external = deploymentOf({
    wanted: { inventory: 'external', env: [{ name: 'DB_HOST', value: 'db' }] },
  });
  const edited = {
    ...deployment,
    spec: { ...deployment.spec, strategy: { type: 'RollingUpdate' } },
  };

  it.each([
    { from: 'built-in', live: built, to: 'sqlite', isReplaced: true },
    { from: 'external', live: external, to: 'sqlite', isReplaced: true },
    { from: 'sqlite', live: deployment, to: 'sqlite', isReplaced: false },
    { from: 'sqlite with an edited strategy', live: edited, to: 'sqlite', isReplaced: false },
    { from: 'built-in', live: built, to: 'built-in', isReplaced: false },
    { from: 'sqlite', live: deployment, to: 'built-in', isReplaced: false },
  ] as const)('a change from $from to $to replaces the Deployment: $isReplaced', (row) => {
    const live = [...withLogin.live, { ...row.live, kind: 'Deployment' }];
    const plan = planOf({ live, wanted: { inventory: row.to } });
    const removed = plan.remove.filter(({ resource }) => resource.kind === 'Deployment');
    expect(removed).toHaveLength(row.isReplaced ? 1 : 0);
    expect(applied(plan, 'Deployment') === undefined).toBe(row.isReplaced);
  });
});
