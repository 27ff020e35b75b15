import { describe, expect, it } from 'vitest';
import { claims, cronJobs, jobs, type Pod } from '../../../kube/core-resources.ts';
import {
  backupPod,
  type DatabaseInput,
  named,
  observedDatabase,
  readyPod,
  statefulSet,
  withOperation,
  withSecret,
} from '../../testing/database-scene.ts';
import { testTime } from '../../testing/observed.ts';
import { backup } from './backup.ts';
import { createBackupMetrics } from './metrics.ts';

const at = '2026-11-26T09:59:00Z';
const written = { file: 'multinic-20261126T095900Z.sql', bytes: 10, at, verified: true, rows: 3 };
const live = [withSecret(), statefulSet()];
const planOf = ({ live: more = [], pods = [], ...rest }: DatabaseInput = {}) =>
  backup(observedDatabase({ ...rest, live: [...live, ...more], pods: [readyPod, ...pods] }));
const on = (creationTimestamp: string, pod: Pod): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, creationTimestamp },
});
const endedJob = (name: string, day: string, type: string) =>
  named(jobs, name, {
    metadata: {
      name,
      namespace: 'multinic-system',
      creationTimestamp: `2026-11-${day}T03:00:00Z`,
      labels: { app: 'mariadb-backup' },
    },
    status: {
      conditions: [{ type, status: 'True', message: 'active longer than the deadline' }],
    },
  });
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
/** EMPTY in the CronJob's environment, with this handled restore value. */
const emptyOf = (handled: string, more: DatabaseInput['live'] = []) => {
  const metadata = { name: 'mariadb-backup', annotations: { 'multinic.io/restore': handled } };
  const labels = { 'multinic.example.com/managed-by-operator': 'production-system' };
  const claim = named(claims, metadata.name, { metadata: { ...metadata, labels } });
  const cronJob = planOf({ live: [claim, ...more] }).apply[0]?.object;
  const { spec } = cronJob as unknown as { spec: { jobTemplate: object } };
  return environmentOf(spec.jobTemplate)['EMPTY'];
};

describe('scheduled backups', () => {
  it("backups use the chart's image pull Secrets", () => {
    const [cronJob] = planOf({ pullSecrets: ['registry-site'] }).apply;
    const pod = 'object.spec.jobTemplate.spec.template.spec';
    expect(cronJob).toHaveProperty(`${pod}.imagePullSecrets`, [{ name: 'registry-site' }]);
  });

  it("the plan has a CronJob with the server's image in UTC, and a claim with room for two copies, without owner", () => {
    const plan = planOf({
      database: { storageSize: '20Gi', backup: { schedule: '5 4 * * *', retention: 3 } },
    });
    const [cronJob, claim] = plan.apply.map(({ object }) => object);
    expect(cronJob).toMatchObject({
      spec: {
        schedule: '5 4 * * *',
        timeZone: 'Etc/UTC',
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
    expect(claim).toMatchObject({ spec: { resources: { requests: { storage: '41Gi' } } } });
  });

  it('backups discard file .dropped only after the user accepted an empty volume', () => {
    expect(['latest', 'empty', 'empty@2'].map((value) => emptyOf(value))).toEqual([
      '',
      'yes',
      'yes',
    ]);
    const times = { startedAt: at, deadline: at };
    const operation = { kind: 'restore', request: 'latest', step: 'swap', ...times } as const;
    expect(emptyOf('empty', [withOperation({ operation })])).toBe('');
  });

  it.each<readonly [string, DatabaseInput, readonly string[], readonly string[]]>([
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

  it('an existing backup claim keeps its size and never shrinks, and a foreign claim is named', () => {
    const rest = { spec: { resources: { requests: { storage: '50Gi' } } } };
    const claim = named(claims, 'mariadb-backup', rest);
    expect(planOf({ live: [claim] }).apply.at(-1)?.object).toMatchObject(rest);
    const sized = (storageSize: string) =>
      planOf({ live: [claim], database: { backup: { storageSize } } });
    expect(sized('60Gi').apply.at(-1)?.object).toMatchObject({
      spec: { resources: { requests: { storage: '60Gi' } } },
    });
    const smaller = sized('40Gi');
    expect(smaller.problems).toMatchObject([{ field: 'spec.database.backup.storageSize' }]);
    expect(names(smaller.apply)).toEqual(['mariadb-backup', 'mariadb-backup']);
    expect(smaller.apply.at(-1)?.object).toMatchObject(rest);
    expect(sized('much').problems).toMatchObject([{ field: 'spec.database.backup.storageSize' }]);
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

  it('a backup of an earlier backup volume is not verified, until a new backup', () => {
    const claim = named(claims, 'mariadb-backup', {
      metadata: {
        name: 'mariadb-backup',
        labels: { 'multinic.example.com/managed-by-operator': 'production-system' },
        creationTimestamp: '2026-11-26T09:59:30Z',
      },
    });
    const status = { databaseStatus: { lastBackup: { ...written } } };
    const { report, notices } = planOf({ live: [claim], status });
    expect(report.lastBackup).toMatchObject({ file: written.file, verified: false });
    expect(notices).toMatchObject([{ reason: 'BackupFailed' }]);
    expect(notices[0]?.message).toContain(`${written.file} is gone`);
    expect(notices[0]?.message).toContain('kubectl -n multinic-system create job --from=');
    const unscheduled = { database: { backup: { schedule: '' } }, live: [claim], status };
    expect(planOf(unscheduled).notices).toEqual([]);
    expect(planOf(unscheduled).report.lastBackup).toMatchObject({ verified: false });
    const time = '2026-11-26T09:59:50Z';
    const next = planOf({
      live: [claim],
      status,
      pods: [backupPod('mariadb-backup-2', time, { ...written, at: time })],
    });
    expect([next.report.lastBackup?.verified, next.notices]).toEqual([true, []]);
  });

  it('a Job that failed at its deadline causes a notice, because its Pod is gone, until a later Job completes', () => {
    const pods = [on('2026-11-23T03:00:00Z', backupPod('mariadb-backup-1', at, written))];
    const late = endedJob('mariadb-backup-2', '24', 'Failed');
    const { notices } = planOf({ live: [late], pods });
    expect(notices).toMatchObject([{ reason: 'BackupFailed' }]);
    expect(notices[0]?.message).toContain('active longer than the deadline');
    expect(
      planOf({ live: [late, endedJob('mariadb-backup-3', '25', 'Complete')], pods }).notices,
    ).toEqual([]);
  });

  it.each(['2030-01-01T03:00:00Z', '2020-01-01T03:00:00Z'])(
    'a failure and a later backup count although the clock of a node says %s',
    (clock) => {
      const wrong = on(
        '2026-11-23T03:00:00Z',
        backupPod('mariadb-backup-1', clock, { ...written, at: clock }),
      );
      const pods = [
        on('2026-11-24T03:00:00Z', backupPod('mariadb-backup-2', at, 'a table is corrupted', 1)),
        wrong,
      ];
      const plan = planOf({ pods });
      expect(plan.notices).toMatchObject([{ reason: 'BackupFailed' }]);
      expect(plan.report.lastBackup?.at).toBe('2026-11-23T03:00:00Z');
      const status = { databaseStatus: { lastBackup: { ...written, at: clock } } };
      const later = on('2026-11-25T03:00:00Z', backupPod('mariadb-backup-3', at, written));
      expect(planOf({ pods: [wrong, later], status }).report.lastBackup?.at).toBe(at);
    },
  );
});

const lastRestore = (time: string, result = 'Succeeded') => ({
  databaseStatus: { lastRestore: { request: 'latest', file: 'a.sql', at: time, result } },
});
const reasonsOf = (scene: DatabaseInput) => planOf(scene).notices.map(({ reason }) => reason);

describe('a dump without inventory tables', () => {
  const empty = backupPod('mariadb-backup-1', at, { ...written, rows: 0, tables: 0 });

  it('is TablesMissing until a restore succeeds or a later dump has tables', () => {
    const { notices } = planOf({ pods: [empty] });
    expect(notices).toMatchObject([{ condition: 'Degraded', reason: 'TablesMissing' }]);
    expect(notices[0]?.message).toContain('set multinic.io/restore to latest');
    expect(reasonsOf({ pods: [empty], status: lastRestore('2026-11-26T09:58:00Z') })).toEqual([
      'TablesMissing',
    ]);
    const failed = lastRestore('2026-11-26T10:00:00Z', 'no such file');
    expect(reasonsOf({ pods: [empty], status: failed })).toEqual(['TablesMissing']);
    expect(reasonsOf({ pods: [empty], status: lastRestore('2026-11-26T10:00:00Z') })).toEqual([]);
    const later = backupPod('mariadb-backup-2', '2026-11-26T09:59:30Z', { ...written, tables: 7 });
    expect(reasonsOf({ pods: [empty, later] })).toEqual([]);
  });
});

describe('backup metrics', () => {
  function shown(scene: DatabaseInput) {
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

  it.each<readonly [string, DatabaseInput, readonly (number | undefined)[]]>([
    [
      'from the last backup',
      { pods: [backupPod('b', at, written)] },
      [Date.parse(at) / 1000, 86_400, 0],
    ],
    ['from the claim before the first backup', { live: [...live, claim] }, [100, 86_400, 0]],
    [
      'not in the future',
      { status: { databaseStatus: { lastBackup: { ...written, at: '2030-01-01T00:00:00Z' } } } },
      [testTime.getTime() / 1000, 86_400, 0],
    ],
    [
      'with the longest pause',
      { live: [...live, claim], database: { backup: { schedule: '0 3 * * 1-5' } } },
      [100, 3 * 86_400, 0],
    ],
    [
      'absent without a schedule',
      { live: [...live, claim], database: { backup: { schedule: '' } } },
      [undefined, undefined, 0],
    ],
  ])('the backup metrics are %s', (_what, scene, values) => {
    expect(shown(scene)).toEqual(values);
  });
});
