import { describe, expect, it } from 'vitest';
import { claims, cronJobs, jobs } from '../../kube/core-resources.ts';
import {
  backupPod,
  named,
  observedDatabase,
  readyPod,
  type Scene,
  statefulSet,
  withSecret,
} from '../testing/database-scene.ts';
import { backup } from './backup.ts';
import { createBackupMetrics } from './metrics.ts';
import { restartToken } from './restart-token.ts';
import { restoreRequest } from './restore.ts';
import { imageChange } from './upgrade-backup.ts';

const at = '2026-11-26T09:59:00Z';
const written = { file: 'multinic-20261126T095900Z.sql', bytes: 10, at, verified: true, rows: 3 };
const live = [withSecret(), statefulSet()];
const planOf = ({ live: more = [], pods = [], ...rest }: Scene = {}) =>
  backup(observedDatabase({ ...rest, live: [...live, ...more], pods: [readyPod, ...pods] }));
const names = (
  all: readonly { readonly object: { readonly metadata: { readonly name: string } } }[] | undefined,
) => all?.map(({ object }) => object.metadata.name);
const environmentOf = (object: unknown) => {
  const { spec } = object as {
    spec: { template: { spec: { containers: { env: { name: string; value?: string }[] }[] } } };
  };
  const env = spec.template.spec.containers[0]?.env ?? [];
  return Object.fromEntries(
    env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
  );
};
const restore = (value: string) => ({ 'multinic.io/restore': value });
const lastRestore = (request: string) => ({
  databaseStatus: { lastRestore: { request, file: 'a', at, result: 'Succeeded' } },
});
const jobFor = (value: string, status?: unknown) => {
  const request = restoreRequest(observedDatabase({ annotations: restore(value), status }));
  return request && 'job' in request ? request.job : '';
};

describe('scheduled backups', () => {
  it("backups use the chart's image pull Secrets", () => {
    const [cronJob] = planOf({ pullSecrets: ['registry-site'] }).apply;
    const pod = 'object.spec.jobTemplate.spec.template.spec';
    expect(cronJob).toHaveProperty(`${pod}.imagePullSecrets`, [{ name: 'registry-site' }]);
  });

  it("the plan has a CronJob with the server's image, and a claim with the database's size and no owner", () => {
    const plan = planOf({
      database: { storageSize: '20Gi', backup: { schedule: '5 4 * * *', retention: 3 } },
    });
    const [cronJob, claim] = plan.apply.map(({ object }) => object);
    expect(cronJob).toMatchObject({
      spec: {
        schedule: '5 4 * * *',
        suspend: false,
        concurrencyPolicy: 'Forbid',
        jobTemplate: { spec: { backoffLimit: 0, activeDeadlineSeconds: 3600 } },
      },
    });
    const { jobTemplate } = (
      cronJob as unknown as { spec: { jobTemplate: { spec: { template: { metadata: object } } } } }
    ).spec;
    expect(jobTemplate.spec.template.metadata).toEqual({
      labels: {
        app: 'mariadb-backup',
        'multinic.example.com/managed-by-operator': 'production-system',
      },
    });
    expect(environmentOf(jobTemplate)).toMatchObject({
      TASK: 'backup',
      HOST: 'mariadb',
      PORT: '3306',
      RETENTION: '3',
    });
    expect(JSON.stringify(cronJob)).not.toMatch(/root-1|user-1/);
    expect(claim?.metadata.ownerReferences).toBeUndefined();
    expect(claim).toMatchObject({ spec: { resources: { requests: { storage: '20Gi' } } } });
  });

  it.each<readonly [string, Scene, readonly string[], readonly string[]]>([
    [
      'without a schedule',
      { database: { backup: { schedule: '' } } },
      ['mariadb-backup'],
      ['CronJob'],
    ],
    ['without a database', { database: { enabled: false } }, [], ['CronJob']],
    ['with an unusable retention', { database: { backup: { retention: 0 } } }, [], []],
  ])('the backup plan %s', (_what, scene, applied, removed) => {
    const plan = planOf({ ...scene, live: [named(cronJobs, 'mariadb-backup')] });
    expect(names(plan.apply)).toEqual(applied);
    expect(plan.remove.map(({ resource }) => resource.kind)).toEqual(removed);
  });

  it('the backup claim never shrinks, and a foreign claim is named', () => {
    const rest = { spec: { resources: { requests: { storage: '50Gi' } } } };
    const { apply } = planOf({ live: [named(claims, 'mariadb-backup', rest)] });
    expect(apply.at(-1)?.object).toMatchObject(rest);
    const { problems, apply: none } = planOf({ live: [named(claims, 'mariadb-backup', rest, {})] });
    expect(problems).toMatchObject([{ field: 'spec.database.enabled' }]);
    expect(none).toEqual([]);
  });

  it('the last verified backup is reported, and a failure causes a notice until a backup succeeds', () => {
    const ok = backupPod('mariadb-backup-1', at, written);
    const failed = backupPod(
      'mariadb-backup-2',
      '2026-11-26T09:59:30Z',
      'the dump failed: volume full',
      1,
    );
    const { rows: _rows, ...reported } = written;
    const succeeded = planOf({ pods: [ok] });
    expect(succeeded.report).toEqual({ lastBackup: reported });
    expect(succeeded.notices).toEqual([]);
    const broken = planOf({ pods: [failed, ok] });
    expect(broken.report).toEqual({ lastBackup: reported });
    expect(broken.notices).toMatchObject([{ condition: 'Degraded', reason: 'BackupFailed' }]);
    expect(broken.notices[0]?.message).toContain('volume full');
    const status = { databaseStatus: { lastBackup: reported } };
    expect(planOf({ status }).report).toEqual({ lastBackup: reported });
    expect(planOf({ pods: [backupPod('x', at, 'not JSON')], status }).report).toEqual({
      lastBackup: reported,
    });
  });
});

describe('a restore', () => {
  it.each<readonly [string, Scene, readonly string[]]>([
    ['creates one Job per value', { annotations: restore('latest') }, [jobFor('latest')]],
    [
      'repeats a file with other text',
      { annotations: restore('latest@2'), status: lastRestore('latest') },
      [jobFor('latest@2', lastRestore('latest'))],
    ],
    [
      'does nothing for the value in the status',
      { annotations: restore('latest'), status: lastRestore('latest') },
      [],
    ],
    [
      'does nothing for the value on the claim',
      {
        annotations: restore('latest'),
        live: [
          named(claims, 'mariadb-backup', {
            metadata: {
              namespace: 'multinic-system',
              name: 'mariadb-backup',
              labels: { 'multinic.example.com/managed-by-operator': 'x' },
              annotations: restore('latest'),
            },
          }),
        ],
      },
      [],
    ],
    ['does nothing without the annotation', {}, []],
  ])('a restore annotation %s', (_what, scene, created) => {
    expect(names(planOf(scene).create)).toEqual(created);
  });

  it('a restore waits for a ready server', () => {
    const observed = observedDatabase({ annotations: restore('latest'), live });
    expect(backup(observed).create).toEqual([]);
  });

  it("a restore Job restores the annotation's file", () => {
    const plan = planOf({ annotations: restore('a.sql@again') });
    expect(environmentOf(plan.create?.[0]?.object)).toMatchObject({
      TASK: 'restore',
      FILE: 'a.sql',
    });
  });

  it.each(['../a.sql', '.hidden', 'a/b', 'a b', '@x'])(
    'restore value %s is refused and named',
    (value) => {
      const plan = planOf({ annotations: restore(value) });
      expect(plan.create).toEqual([]);
      expect(plan.problems).toMatchObject([{ field: 'metadata.annotations[multinic.io/restore]' }]);
      expect(plan.problems[0]?.message).toContain(`"${value}"`);
      expect(names(plan.apply)).toContain('mariadb-backup');
    },
  );

  it('a finished restore is reported and stored on the claim, and its success restarts the operator', () => {
    const annotations = restore('latest@1');
    const done = planOf({
      annotations,
      live: [named(jobs, jobFor('latest@1'))],
      pods: [backupPod(jobFor('latest@1'), at, written)],
    });
    expect(done.report.lastRestore).toEqual({
      request: 'latest@1',
      file: written.file,
      at,
      result: 'Succeeded',
    });
    expect(done.report.lastBackup).toBeUndefined();
    expect(done.apply.at(-1)?.object.metadata.annotations).toEqual(annotations);
    const status = { databaseStatus: { lastRestore: done.report.lastRestore } } as Parameters<
      typeof restartToken
    >[0];
    expect(restartToken(status)).toMatch(/^[0-9a-f]{10}$/);
    const failed = planOf({
      annotations,
      pods: [backupPod(jobFor('latest@1'), at, 'there is no file', 1)],
    });
    expect(failed.report.lastRestore).toMatchObject({ result: 'there is no file' });
    expect(
      restartToken({
        databaseStatus: { lastRestore: { ...done.report.lastRestore, result: 'no' } },
      }),
    ).toBeUndefined();
    expect(restartToken({})).toBeUndefined();
  });

  it('a value set again gets its own restore Job, and the first result is not reported again', () => {
    const scene = { annotations: restore('latest'), status: lastRestore('b.sql') };
    const first = jobFor('latest');
    const plan = planOf({ ...scene, pods: [backupPod(first, at, written)] });
    expect(names(plan.create)).not.toContain(first);
    expect(plan.create).toHaveLength(1);
    expect(plan.report.lastRestore).toMatchObject({ request: 'b.sql' });
  });

  it('a request with an existing Job is stored on the claim, so its Job is never created twice', () => {
    const annotations = restore('latest');
    const running = planOf({ annotations, live: [named(jobs, jobFor('latest'))] });
    expect(running.apply.at(-1)?.object.metadata.annotations).toEqual(annotations);
    expect(planOf({ annotations }).apply.at(-1)?.object.metadata.annotations).toBeUndefined();
  });

  it('a request stored only on the claim is reported, even after a crash before the status write', () => {
    const annotations = restore('latest');
    const claim = named(claims, 'mariadb-backup', {
      metadata: {
        namespace: 'multinic-system',
        name: 'mariadb-backup',
        labels: { 'multinic.example.com/managed-by-operator': 'x' },
        annotations,
      },
    });
    const pods = [backupPod(jobFor('latest'), at, written)];
    const { create, report } = planOf({ annotations, live: [claim], pods });
    expect(create).toEqual([]);
    expect(report.lastRestore).toMatchObject({ request: 'latest', result: 'Succeeded' });
    const { report: unknown } = planOf({ annotations, live: [claim] });
    expect(unknown.lastRestore?.result).toMatch(
      /^the result is unknown, because the Job was deleted/,
    );
  });

  it('a restore Job failed without a Pod is reported with its condition', () => {
    const conditions = [{ type: 'Failed', status: 'True', message: 'deadline' }];
    const job = named(jobs, jobFor('latest'), { status: { conditions } });
    const { report } = planOf({ annotations: restore('latest'), live: [job] });
    expect(report.lastRestore).toMatchObject({ request: 'latest', result: 'deadline' });
  });
});

describe('a backup before a new image', () => {
  const database = { image: 'mariadb:11.8' };
  const job =
    imageChange(observedDatabase({ database, live, pods: [readyPod] }), 'mariadb:11.8')?.job ?? '';

  it('one Job with the current image is created before an image change and expires after an hour', () => {
    const plan = planOf({ database });
    expect(names(plan.create)).toEqual([job]);
    expect(environmentOf(plan.create?.[0]?.object)).toMatchObject({ SUFFIX: '-before-upgrade' });
    expect(plan.create?.[0]?.object).toMatchObject({
      spec: {
        ttlSecondsAfterFinished: 3600,
        template: { spec: { containers: [{ image: 'mariadb:10.11' }] } },
      },
    });
    expect(JSON.stringify(plan.apply[0]?.object)).toContain('mariadb:10.11');
  });

  it('a failed backup before an image change causes a notice naming the waiting image', () => {
    const plan = planOf({ database, pods: [backupPod(job, at, 'full', 1)] });
    expect(plan.create).toEqual([]);
    expect(plan.notices).toMatchObject([{ condition: 'Degraded', reason: 'BackupFailed' }]);
    expect(plan.notices[0]?.message).toMatch(
      /"mariadb:11\.8" waits, and mariadb:10\.11 still runs.*full.*delete Job/,
    );
  });
});

describe('backup metrics', () => {
  function shown(scene: Scene) {
    const values = new Map<string, () => number | undefined>();
    const record = createBackupMetrics({
      sample: (name, _labels, value) => void values.set(name, value),
    });
    const observed = observedDatabase({ live, ...scene });
    record(observed, backup(observed).report);
    return [...values.values()].map((value) => value());
  }
  const claim = named(claims, 'mariadb-backup', {
    metadata: {
      name: 'mariadb-backup',
      labels: { 'multinic.example.com/managed-by-operator': 'x' },
      creationTimestamp: '1970-01-01T00:01:40Z',
    },
  });

  it.each<readonly [string, Scene, readonly (number | undefined)[]]>([
    [
      'from the last backup',
      { pods: [backupPod('b', at, written)] },
      [Date.parse(at) / 1000, 86_400],
    ],
    ['from the claim before the first backup', { live: [...live, claim] }, [100, 86_400]],
    [
      'with the longest pause',
      { live: [...live, claim], database: { backup: { schedule: '0 3 * * 1-5' } } },
      [100, 3 * 86_400],
    ],
    [
      'absent without a schedule',
      { live: [...live, claim], database: { backup: { schedule: '' } } },
      [undefined, undefined],
    ],
  ])('the backup metrics are %s', (_what, scene, values) => {
    expect(shown(scene)).toEqual(values);
  });
});
