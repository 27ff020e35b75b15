import { describe, expect, it } from 'vitest';
import { DatabaseCluster } from '../../testing/database-cluster.ts';
import { failedPod } from '../../testing/database-scene.ts';

const restore = { 'multinic.io/restore': 'latest' };
const rotate = { 'multinic.io/rotate-credentials': 'a' };
const image = 'mariadb:11.8';

/** Returns a cluster whose installation is complete. */
function installed(): DatabaseCluster {
  const cluster = new DatabaseCluster();
  cluster.settle();
  expect(cluster.isReady).toBe(true);
  return cluster;
}

describe('an operation on the database', () => {
  it('a restore loads a copy, stops the operator, swaps, and starts the operator again', () => {
    const cluster = installed();
    cluster.annotate(restore);
    expect(cluster.settle()).toEqual([
      'restore prepare',
      'restore load',
      'restore stop',
      'restore swap',
      'restore finish',
    ]);
    expect(cluster.replicasSeen).toEqual([2, 0, 2]);
    expect(cluster.databaseStatus).toMatchObject({
      lastRestore: { request: 'latest', result: 'Succeeded' },
    });
    expect(cluster.databaseStatus).not.toHaveProperty('operation');
    expect(cluster.jobNames).toHaveLength(2);
  });

  it('a restore stores the volume with the loaded copy', () => {
    const cluster = installed();
    cluster.annotate(restore);
    cluster.until('restore stop');
    expect(cluster.operation?.volume).toBe('mysql-storage-mariadb-0-uid/unknown');
  });

  it('requests in one patch run in sequence, the restore first', () => {
    const cluster = installed();
    cluster.spec.database.image = image;
    cluster.annotate({ ...rotate, ...restore });
    const steps = cluster.settle();
    expect([...new Set(steps.map((step) => step.split(' ')[0]))]).toEqual([
      'restore',
      'rotation',
      'upgrade',
    ]);
    expect(steps.filter((step) => step.startsWith('upgrade'))).toEqual([
      'upgrade prepare',
      'upgrade backup',
      'upgrade check',
      'upgrade replace',
    ]);
    expect(cluster.image).toBe(image);
    expect(cluster.kubelet.restarts).toBe(2);
  });

  it.each(['load', 'stop', 'swap', 'finish'])(
    'Secret, StatefulSet and scheduled backups keep still in restore step %s',
    (step) => {
      const cluster = installed();
      cluster.annotate(restore);
      cluster.until(`restore ${step}`);
      const before = cluster.serverObjects();
      cluster.spec.database.image = image;
      cluster.spec.database.resources = { memory: '1Gi' };
      cluster.annotate({ ...restore, ...rotate });
      cluster.reconcile({ works: false });
      cluster.reconcile({ works: false });
      expect(cluster.serverObjects()).toEqual(before);
      expect(cluster.isSuspended).toBe(true);
      expect(cluster.condition('Reconciling')).toMatchObject({
        status: 'True',
        reason: 'DatabaseOperation',
        message: expect.stringMatching(
          /^restore "latest", step .*; waiting: multinic\.io\/rotate-credentials "a", spec\.database\.image "mariadb:11\.8"$/,
        ) as string,
      });
    },
  );

  it('an operation waits for running backups, including backups by users', () => {
    const cluster = installed();
    cluster.startBackup('mariadb-backup-by-hand');
    cluster.annotate(rotate);
    cluster.until('rotation prepare');
    cluster.reconcile();
    expect(cluster.operation).toMatchObject({ step: 'prepare' });
    expect(cluster.condition('Reconciling')?.message).toContain('Job mariadb-backup-by-hand');
    cluster.kubelet.end('mariadb-backup-by-hand');
    expect(cluster.settle().at(-1)).toBe('rotation restart');
    expect(cluster.operation).toBeUndefined();
  });

  it('passwords stay while the StatefulSet cannot follow them, and change despite an unusable size', () => {
    const cluster = installed();
    cluster.annotate(rotate);
    cluster.spec.database.storageSize = 'lots';
    const before = cluster.serverObjects();
    expect(cluster.settle()).toEqual([]);
    expect(cluster.serverObjects()).toEqual(before);
    cluster.spec.database.storageSize = '1Gi';
    expect(cluster.settle().at(-1)).toBe('rotation restart');
    expect(cluster.kubelet.restarts).toBe(1);
  });

  it('passwords stay while a different database name is refused, before and during a rotation', () => {
    const cluster = installed();
    cluster.annotate(rotate);
    cluster.spec.database.credentials = { database: 'shop' };
    const before = cluster.serverObjects();
    expect(cluster.settle()).toEqual([]);
    expect(cluster.serverObjects()).toEqual(before);
    cluster.spec.database.credentials = {};
    cluster.until('rotation write');
    cluster.spec.database.credentials = { database: 'shop' };
    expect(cluster.settle()).toEqual(['rotation write']);
    expect(cluster.serverObjects()).toEqual(before);
    cluster.spec.database.credentials = {};
    expect(cluster.settle().at(-1)).toBe('rotation restart');
    expect(cluster.kubelet.restarts).toBe(1);
  });

  it('an image is tried again within the hour after it was replaced', () => {
    const cluster = installed();
    for (const wanted of ['mariadb:10.11.8', 'mariadb:10.11.9', 'mariadb:10.11.8']) {
      cluster.spec.database.image = wanted;
      cluster.settle();
      expect(cluster.image).toBe(wanted);
    }
    expect(cluster.condition('Ready')).toMatchObject({ status: 'True' });
  });

  it('an operation without progress is reconciled at its deadline', () => {
    const cluster = installed();
    cluster.annotate(rotate);
    cluster.until('rotation prepare');
    expect(cluster.requeueAfterMs).toBe(1_800_001 - 60_000);
  });

  it.each(['load', 'swap'])('a missing Job in step %s is created again', (step) => {
    const cluster = installed();
    cluster.annotate(restore);
    cluster.until(`restore ${step}`);
    cluster.reconcile({ works: false });
    cluster.dropJobs();
    cluster.settle();
    expect(cluster.databaseStatus).toMatchObject({ lastRestore: { result: 'Succeeded' } });
  });

  it.each<readonly [string, string, number, string]>([
    ['a file that cannot be loaded', 'load', 1, 'no such file; nothing was changed'],
    [
      'three evicted Jobs',
      'load',
      137,
      'the container exited with status 137 (3 times); nothing was changed',
    ],
  ])('%s ends the restore, and the operator has never stopped', (_what, step, exitCode, result) => {
    const cluster = installed();
    cluster.annotate(restore);
    cluster.kubelet.fails = (name) =>
      name.includes(`-${step}-`) && failedPod(name, 'no such file; nothing was changed', exitCode);
    cluster.settle();
    expect(cluster.databaseStatus).toMatchObject({ lastRestore: { request: 'latest', result } });
    expect(cluster.replicasSeen).toEqual([2]);
    expect(cluster.condition('Ready')).toMatchObject({ status: 'True' });
    expect(cluster.isSuspended).toBe(false);
  });

  it('a swap that fails three times is RestoreFailed until a later restore, and no backup is removed', () => {
    const cluster = installed();
    cluster.annotate(restore);
    cluster.kubelet.fails = (name) => name.includes('-swap-') && failedPod(name, 'half of it', 1);
    cluster.settle();
    expect(cluster.replicasSeen).toEqual([2, 0, 2]);
    expect(cluster.condition('Ready')).toMatchObject({ status: 'False', reason: 'RestoreFailed' });
    expect(cluster.retention).toBe('0');
    cluster.loseStatus();
    cluster.reconcile();
    expect(cluster.condition('Ready')).toMatchObject({ reason: 'RestoreFailed' });
    cluster.kubelet.fails = () => undefined;
    cluster.annotate({ 'multinic.io/restore': 'latest@2' });
    cluster.settle();
    expect(cluster.condition('Ready')).toMatchObject({ status: 'True' });
    expect(cluster.retention).toBe('7');
  });

  it.each<readonly [string, string, string]>([
    ['backup', 'BackupFailed', 'volume is full'],
    ['check', 'ImageUnusable', 'no mariadb-dump'],
  ])('after a failed %s the former image stays, and a new image is tried', (step, reason, why) => {
    const cluster = installed();
    cluster.spec.database.image = image;
    cluster.kubelet.fails = (name) => name.includes(`-${step}-`) && failedPod(name, why, 1);
    cluster.settle();
    expect(cluster.image).toBe('mariadb:10.11');
    expect(cluster.kubelet.restarts).toBe(0);
    expect(cluster.condition('Ready')).toMatchObject({
      status: 'False',
      reason,
      message: expect.stringContaining(why) as string,
    });
    cluster.kubelet.fails = () => undefined;
    cluster.spec.database.image = 'mariadb:11.4';
    cluster.settle();
    expect(cluster.image).toBe('mariadb:11.4');
  });

  it('an unpullable image never replaces the running image', () => {
    const cluster = installed();
    cluster.spec.database.image = 'mariadb:10.1l';
    cluster.kubelet.unpullable.add('mariadb:10.1l');
    cluster.settle();
    expect(cluster.kubelet.restarts).toBe(0);
    expect(cluster.condition('Ready')).toMatchObject({ reason: 'ImageUnusable' });
    expect(cluster.jobNames.join()).toContain('mariadb-upgrade-check-');
    // The Job's Pod would pull for an hour, and reserve CPU and memory meanwhile.
    cluster.spec.database.image = 'mariadb:10.11';
    cluster.settle();
    expect(cluster.jobNames.join()).not.toContain('mariadb-upgrade-check-');
    expect(cluster.condition('Ready')).toMatchObject({ status: 'True' });
  });

  it('an upgrade goes on after a Job whose Pod was unschedulable at first', () => {
    const cluster = installed();
    cluster.kubelet.isCrowded = true;
    cluster.spec.database.image = image;
    expect(cluster.settle()).toEqual([
      'upgrade prepare',
      'upgrade backup',
      'upgrade check',
      'upgrade replace',
    ]);
    expect(cluster.image).toBe(image);
  });

  it('a handled value starts nothing, even after a lost status', () => {
    const cluster = installed();
    cluster.annotate(restore);
    cluster.settle();
    cluster.loseStatus();
    expect(cluster.settle()).toEqual([]);
  });

  it('condition Accepted answers a handled value with the end time and the next step', () => {
    const cluster = installed();
    cluster.annotate({ 'multinic.io/restore': 'latest!@1' });
    cluster.settle();
    const done =
      /^all fields are valid; multinic\.io\/restore "latest!@1" succeeded at \S+Z; append @TEXT to repeat it, for example latest!@2$/;
    expect(cluster.condition('Accepted')?.message).toMatch(done);
    cluster.loseStatus();
    cluster.settle();
    const earlier = '"latest!@1" was handled earlier; append @TEXT to repeat it, for example';
    expect(cluster.condition('Accepted')?.message).toContain(earlier);
    cluster.kubelet.fails = (name) => name.includes('-load-') && failedPod(name, 'no such file', 1);
    cluster.annotate(restore);
    cluster.settle();
    expect(cluster.condition('Accepted')).toMatchObject({
      status: 'True',
      message: expect.stringMatching(/"latest" failed at \S+Z; .* example latest@2$/) as string,
    });
    for (const [value, example] of [
      ['latest@2', 'latest@3'],
      ['latest@lost', 'latest@2'],
    ]) {
      cluster.annotate({ 'multinic.io/restore': value ?? '' });
      cluster.settle();
      expect(cluster.condition('Accepted')?.message).toMatch(new RegExp(`example ${example}$`));
    }
    cluster.annotate({});
    cluster.settle();
    expect(cluster.condition('Accepted')?.message).toBe('all fields are valid');
  });

  it.each(['../a.sql', '.hidden', 'a/b', 'a b', '@x', 'latest!!'])(
    'restore value %s is refused and named',
    (value) => {
      const cluster = installed();
      cluster.annotate({ 'multinic.io/restore': value });
      expect(cluster.settle()).toEqual([]);
      expect(cluster.condition('Accepted')?.message).toContain(`"${value}"`);
    },
  );

  it('an unreadable annotation stops everything and is named', () => {
    const cluster = installed();
    cluster.setRecord('{"operation": 1}');
    cluster.annotate(rotate);
    expect(cluster.settle()).toEqual([]);
    expect(cluster.condition('Stalled')).toMatchObject({
      status: 'True',
      reason: 'OperationUnreadable',
    });
    expect(cluster.kubelet.restarts).toBe(0);
  });
});
