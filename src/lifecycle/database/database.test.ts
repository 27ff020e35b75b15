import { describe, expect, it } from 'vitest';
import { claims, type Pod, type StatefulSet, services } from '../../kube/core-resources.ts';
import { imageChange } from '../backup/upgrade-backup.ts';
import {
  backupPod,
  databasePodWith,
  named,
  observedDatabase,
  prepared,
  readyPod,
  type Scene,
  secretWith,
  statefulSet,
  withSecret,
} from '../testing/database-scene.ts';
import { database } from './database.ts';

const kinds = (plan: ReturnType<typeof database>) =>
  plan.apply.map(({ object, resource }) => `${resource.kind} ${object.metadata.name}`);
const setOf = (plan: ReturnType<typeof database>): StatefulSet | undefined =>
  plan.apply.find(({ resource }) => resource.kind === 'StatefulSet')?.object;
const imageIn = (scene: Scene) =>
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
    expect(plan.report.phase).toBe('Disabled');
    const foreign = [statefulSet({ isManaged: false }), named(services, 'mariadb', {}, {})];
    expect(
      database(observedDatabase({ database: { enabled: false }, live: foreign })).remove,
    ).toEqual([]);
  });

  it.each<readonly [string, Scene, string, RegExp]>([
    [
      'a smaller size',
      { database: { storageSize: '5Gi' }, live: [claim('10Gi')] },
      'spec.database.storageSize',
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
      'spec.database.storageSize',
      /is not expanded: no;/,
    ],
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

  it('a legacy StatefulSet is replaced after its passwords are in the Secret, and its claim is adopted', () => {
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

describe('a new image', () => {
  const live = [withSecret(), statefulSet()];
  const changed = { database: { image: 'mariadb:11.8' }, live };
  const job = imageChange(observedDatabase(changed), 'mariadb:11.8')?.job ?? '';
  const result = { file: 'a.sql', bytes: 1, at: '2026-11-26T09:59:00Z', verified: true, rows: 1 };
  const refusedPod = databasePodWith(
    { waiting: { reason: 'CrashLoopBackOff' } },
    { last: { terminated: { exitCode: 3, message: 'older' } } },
  );

  it.each<readonly [string, readonly Pod[], string]>([
    ['waits for a backup', [readyPod], 'mariadb:10.11'],
    ['waits while the Pod is missing', [], 'mariadb:10.11'],
    ['waits while the Pod starts', [waiting('PodInitializing')], 'mariadb:10.11'],
    [
      'waits after a failed backup',
      [readyPod, backupPod(job, '2026-11-26T09:59:00Z', 'full', 1)],
      'mariadb:10.11',
    ],
    [
      'ignores a backup for a different change',
      [readyPod, backupPod('mariadb-backup-1', '2026-11-26T09:59:00Z', result)],
      'mariadb:10.11',
    ],
    [
      'is applied after its verified backup',
      [readyPod, backupPod(job, '2026-11-26T09:59:00Z', result)],
      'mariadb:11.8',
    ],
    ['replaces an image that was never pulled', [waiting('ImagePullBackOff')], 'mariadb:11.8'],
    ['replaces an image that refused the data', [refusedPod], 'mariadb:11.8'],
  ])('a new image %s', (_what, pods, image) => {
    expect(imageIn({ ...changed, pods })).toBe(image);
  });

  it('a new image waiting for a backup is shown in the message, and the phase stays Ready', () => {
    const { report } = database(observedDatabase({ ...changed, pods: [readyPod] }));
    expect(report).toMatchObject({
      phase: 'Ready',
      version: '10.11.19',
      message:
        'spec.database.image "mariadb:11.8" waits for a verified backup; mariadb:10.11 still runs',
    });
  });

  it('a new image without a server to back up is reported with instructions to skip the backup', () => {
    const crashing = databasePodWith(prepared, {
      server: [
        { waiting: { reason: 'CrashLoopBackOff' } },
        { terminated: { exitCode: 1, reason: 'Error' } },
      ],
    });
    const { report } = database(observedDatabase({ ...changed, pods: [crashing] }));
    expect(report.message).toMatch(
      /exited with status 1.*to change to "mariadb:11\.8" without a backup, delete StatefulSet mariadb/,
    );
    const starting = database(observedDatabase({ ...changed, pods: [waiting('PodInitializing')] }));
    expect(starting.report.message).toMatch(/waits.*mariadb:10\.11 is not ready$/);
  });
});
