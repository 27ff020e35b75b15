import { describe, expect, it } from 'vitest';
import {
  claims,
  deployments,
  type Pod,
  type StatefulSet,
  services,
} from '../../../kube/core-resources.ts';
import {
  type DatabaseInput,
  databasePodWith,
  named,
  observedDatabase,
  readyPod,
  secretWith,
  statefulSet,
  withSecret,
} from '../../testing/database-scene.ts';
import { accept } from '../accept/accept.ts';
import { database } from './database.ts';

const kinds = (plan: ReturnType<typeof database>) =>
  plan.apply.map(({ object, resource }) => `${resource.kind} ${object.metadata.name}`);
const setOf = (plan: ReturnType<typeof database>): StatefulSet | undefined =>
  plan.apply.find(({ resource }) => resource.kind === 'StatefulSet')?.object;
const imageIn = (scene: DatabaseInput) =>
  setOf(database(observedDatabase(scene)))?.spec?.template.spec?.containers[0]?.image;
const claim = (size: string, rest: object = {}, labels?: Record<string, string>) =>
  named(
    claims,
    'mysql-storage-mariadb-0',
    { spec: { resources: { requests: { storage: size } } }, ...rest },
    labels,
  );

const notes = (passwords: string[]) => {
  const plan = database(observedDatabase({ live: [withSecret(secretWith(passwords))] }));
  return setOf(plan)?.spec?.template.metadata?.annotations;
};
const waiting = (reason: string): Pod => databasePodWith({ waiting: { reason } });

describe('MariaDB objects', () => {
  it('the plan has a Service, a StatefulSet with a separate claim, and the claim without an owner', () => {
    const plan = database(observedDatabase({ live: [withSecret()] }));
    expect(kinds(plan)).toEqual([
      'Service mariadb',
      'StatefulSet mariadb',
      'PersistentVolumeClaim mysql-storage-mariadb-0',
    ]);
    const [service, set, volume] = plan.apply.map(({ object }) => object);
    expect(set).toMatchObject({
      metadata: { ownerReferences: [{ uid: 'uid-1' }] },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: 'mariadb' } },
        podManagementPolicy: 'Parallel',
      },
    });
    expect(set).not.toHaveProperty('spec.volumeClaimTemplates');
    expect(service).toMatchObject({
      spec: { type: 'ClusterIP', ports: [{ port: 3306, targetPort: 3306 }] },
    });
    expect(volume?.metadata.ownerReferences).toBeUndefined();
    expect(volume).toMatchObject({ spec: { resources: { requests: { storage: '10Gi' } } } });
  });

  it.each([
    { chart: ['registry-site'], live: [], pod: [{ name: 'registry-site' }] },
    { chart: [], live: ['old'], pod: undefined },
    { chart: undefined, live: ['old'], pod: [{ name: 'old' }] },
  ])(
    'the Pod has pull Secrets $pod when the chart has $chart and the previous Pod had $live',
    (row) => {
      const [of, before] = statefulSet();
      const imagePullSecrets = row.live.map((name) => ({ name }));
      const spec = { template: { spec: { imagePullSecrets, containers: [] } } };
      const live = [withSecret(), [of, { ...before, spec }] as const];
      const plan = database(observedDatabase({ live, pullSecrets: row.chart }));
      expect(setOf(plan)?.spec?.template.spec?.imagePullSecrets).toEqual(row.pod);
    },
  );

  it('the Pod restarts when the login changes', () => {
    expect(notes(['a', 'b', 'c'])).not.toEqual(notes(['a', 'x', 'c']));
  });

  it('the Pod contains no password, and all containers are restricted', () => {
    const spec = setOf(database(observedDatabase({ live: [withSecret()] })))?.spec?.template.spec;
    expect(JSON.stringify(spec)).not.toMatch(/root-1|user-1/);
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsUser: 999, runAsNonRoot: true },
    });
    const all = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
    expect(all.map(({ securityContext }) => securityContext)).toEqual(
      Array.from({ length: 2 }, () => ({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })),
    );
  });

  it("the objects follow the spec's type, port, size and resources", () => {
    const scene = {
      service: { type: 'NodePort', port: 3307, nodePort: 30305 },
      storageSize: '20Gi',
      resources: { memory: '1Gi' },
    };
    const plan = database(
      observedDatabase({ database: scene, live: [withSecret(), claim('10Gi')] }),
    );
    expect(plan.apply[0]?.object).toMatchObject({
      spec: { type: 'NodePort', ports: [{ port: 3307, nodePort: 30305, targetPort: 3306 }] },
    });
    expect(setOf(plan)?.spec?.template.spec?.containers[0]?.resources).toEqual({
      requests: { cpu: '100m', memory: '1Gi' },
      limits: { cpu: '500m', memory: '1Gi' },
    });
    expect(plan.apply[2]?.object).toMatchObject({
      spec: { resources: { requests: { storage: '20Gi' } } },
    });
    const problem = plan.apply[2]?.problemIfRefused?.(
      'only dynamically provisioned pvc can be resized',
    );
    expect(problem).toMatchObject({ field: 'spec.database.storageSize' });
    expect(problem?.message).toContain('"20Gi"');
  });

  it('the StatefulSet waits for the Secret', () => {
    const plan = database(observedDatabase());
    expect(setOf(plan)).toBeUndefined();
    expect(plan.report).toMatchObject({
      phase: 'Pending',
      message: 'waits for Secret mariadb-credentials',
    });
  });

  it('all objects but claim and Secret are removed when the database is disabled', () => {
    const live = [withSecret(), statefulSet(), named(services, 'mariadb'), claim('10Gi')];
    const plan = database(observedDatabase({ database: { enabled: false }, live }));
    expect(plan.remove.map(({ resource }) => resource.kind)).toEqual(['StatefulSet', 'Service']);
    expect(plan.apply).toEqual([]);
    expect(plan.report).toEqual({ phase: 'Disabled' });
    const foreign = [statefulSet({ isManaged: false }), named(services, 'mariadb', {}, {})];
    expect(
      database(observedDatabase({ database: { enabled: false }, live: foreign })).remove,
    ).toEqual([]);
  });

  it('a database stays, with the reason in the status, while the operator uses it', () => {
    const env = [{ name: 'DB_HOST', value: 'mariadb.multinic-system.svc' }];
    const operator = named(deployments, 'multinic-controller', {
      spec: { replicas: 2, selector: {}, template: { spec: { containers: [{ name: 'x', env }] } } },
    });
    const live = [withSecret(), statefulSet(), operator];
    const plan = database(observedDatabase({ database: { enabled: false }, live }));
    expect(plan.remove).toEqual([]);
    expect(plan.report).toEqual({
      phase: 'Progressing',
      message: 'MariaDB stays until the operator runs without it',
    });
  });

  it('a database stays while the operator has unusable fields, for example replicas without MariaDB', () => {
    const observed = observedDatabase({ live: [withSecret(), statefulSet()] });
    const spec = { database: { enabled: false }, controller: { replicas: 2 } };
    const accepted = accept({ ...observed.operator, spec }, observed.now);
    const plan = database({ ...observed, accepted });
    expect(plan.remove).toEqual([]);
    expect(plan.report).toEqual({
      phase: 'Progressing',
      message: 'MariaDB stays until the fields of the operator are valid',
    });
  });

  it.each<readonly [string, DatabaseInput, RegExp]>([
    [
      'a smaller size',
      { database: { storageSize: '5Gi' }, live: [claim('10Gi')] },
      /"5Gi" is less than the 10Gi .* set 10Gi or more$/,
    ],
    [
      'a failed expansion',
      {
        live: [
          claim('10Gi', {
            status: {
              conditions: [{ type: 'ControllerResizeError', status: 'True', message: 'no' }],
            },
          }),
        ],
      },
      /is not expanded: no;/,
    ],
  ])(
    'after %s the claim keeps its size, and the StatefulSet follows the spec',
    (_what, scene, message) => {
      const live = [withSecret(), ...(scene.live ?? [])];
      const plan = database(observedDatabase({ ...scene, live }));
      expect(setOf(plan)).toBeDefined();
      expect(plan.apply.at(-1)?.object).toMatchObject({
        spec: { resources: { requests: { storage: '10Gi' } } },
      });
      expect(plan.problems).toMatchObject([{ field: 'spec.database.storageSize' }]);
      expect(plan.problems[0]?.message).toMatch(message);
    },
  );

  it.each<readonly [string, DatabaseInput, string, RegExp]>([
    [
      'a foreign StatefulSet',
      { live: [statefulSet({ isManaged: false })] },
      'spec.database.enabled',
      /StatefulSet mariadb exists/,
    ],
    [
      'a foreign Service',
      { live: [named(services, 'mariadb', {}, {})] },
      'spec.database.enabled',
      /Service mariadb exists/,
    ],
    [
      'a foreign claim',
      { live: [claim('10Gi', {}, { app: 'shop' })] },
      'spec.database.enabled',
      /PersistentVolumeClaim mysql-storage/,
    ],
  ])('%s changes nothing and is named', (_what, scene, field, message) => {
    const plan = database(
      observedDatabase({ ...scene, live: [withSecret(), ...(scene.live ?? [])] }),
    );
    expect(plan.apply).toEqual([]);
    expect(plan.remove).toEqual([]);
    expect(plan.problems).toMatchObject([{ field }]);
    expect(plan.problems[0]?.message).toMatch(message);
  });
});

describe('legacy objects', () => {
  const legacy = statefulSet({ isLegacy: true });
  const old = claim('10Gi', {}, { app: 'mariadb' });

  it('a legacy StatefulSet is replaced after the Secret has all passwords, and the claim is adopted', () => {
    const first = database(observedDatabase({ live: [legacy, old] }));
    expect(first.remove).toEqual([]);
    expect(setOf(first)).toBeUndefined();
    const second = database(observedDatabase({ live: [legacy, old, withSecret()] }));
    expect(second.remove.map(({ resource }) => resource.kind)).toEqual(['StatefulSet']);
    expect(setOf(second)).toBeUndefined();
    expect(setOf(database(observedDatabase({ live: [old, withSecret()] })))).toBeDefined();
  });

  it('a legacy StatefulSet with a different image stays until a backup is verified', () => {
    const scene = {
      database: { image: 'mariadb:11.8' },
      live: [legacy, old, withSecret()],
      pods: [readyPod],
    };
    expect(database(observedDatabase(scene)).remove).toEqual([]);
  });

  it('a Service with a different port is recreated', () => {
    const service = named(services, 'mariadb', { spec: { ports: [{ port: 3306 }] } });
    const scene = { database: { service: { port: 3307 } }, live: [service, withSecret()] };
    const plan = database(observedDatabase(scene));
    expect(plan.remove.map(({ resource }) => resource.kind)).toEqual(['Service']);
    expect(kinds(plan)).not.toContain('Service mariadb');
  });
});

const fields = (manager: string, operation: string, container: object) => ({
  manager,
  operation,
  fieldsType: 'FieldsV1',
  fieldsV1: {
    'f:spec': {
      'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"mariadb"}': container } } },
    },
  },
});

describe('fields added to the Pod template by other programs', () => {
  const [resource, object] = statefulSet();
  const managedFields = [
    fields('lifecycle', 'Apply', { '.': {}, 'f:name': {}, 'f:image': {} }),
    fields('kubectl-patch', 'Update', { 'f:args': {} }),
  ];
  const live = [
    withSecret(),
    [resource, { ...object, metadata: { ...object.metadata, managedFields } }] as const,
  ];
  const planOf = (protection: object) => {
    const observed = observedDatabase({ live, pods: [readyPod] });
    const spec = { database: { enabled: true }, protection };
    return database({
      ...observed,
      accepted: accept({ ...observed.operator, spec }, observed.now),
    });
  };

  it('added fields are drift with their manager, and under protection the StatefulSet is created again', () => {
    const open = planOf({});
    expect(open.remove).toEqual([]);
    expect(open.drifted?.join()).toMatch(/kubectl-patch added .*\[name="mariadb"\]\.args/);
    const guarded = planOf({ enableMutationPrevention: true });
    expect(guarded.remove).toMatchObject([{ propagationPolicy: 'Orphan' }]);
    expect(setOf(guarded)).toBeUndefined();
    expect(planOf({ enableMutationPrevention: true, enableAutoRecovery: false }).remove).toEqual(
      [],
    );
  });
});

const exited = (exitCode: number) =>
  databasePodWith(
    { waiting: { reason: 'CrashLoopBackOff' } },
    { last: { terminated: { exitCode, message: 'older' } } },
  );

describe('a new image', () => {
  const live = [withSecret(), statefulSet()];
  const changed = { database: { image: 'mariadb:11.8' }, live };
  it.each<readonly [string, readonly Pod[], string]>([
    ['waits for its operation', [readyPod], 'mariadb:10.11'],
    ['waits while the Pod is missing', [], 'mariadb:10.11'],
    ['waits while the Pod starts', [waiting('PodInitializing')], 'mariadb:10.11'],
    ['waits after an upgrade that has opened the data', [exited(8)], 'mariadb:10.11'],
    ['waits after the init container was killed', [exited(137)], 'mariadb:10.11'],
    ['replaces an image that was never pulled', [waiting('ImagePullBackOff')], 'mariadb:11.8'],
    ['replaces an image that refused the data', [exited(3)], 'mariadb:11.8'],
    ['replaces an image that could not open the data', [exited(6)], 'mariadb:11.8'],
  ])('a new image %s', (_what, pods, image) => {
    expect(imageIn({ ...changed, pods })).toBe(image);
  });
});
