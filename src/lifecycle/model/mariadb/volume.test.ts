import { describe, expect, it } from 'vitest';
import { claims } from '../../../kube/core-resources.ts';
import { notedRequest, restoreRequest } from '../../stages/backup/restore.ts';
import {
  backupPod,
  type DatabaseInput,
  databasePodWith,
  named,
  observedDatabase,
} from '../../testing/database-scene.ts';
import { effectsOf, retentionOf } from './operation-effects.ts';
import { notedVolume, volumeNotices } from './volume.ts';

const labels = { 'multinic.example.com/managed-by-operator': 'production-system' };
const dataClaim = (uid: string, rest: object = {}) =>
  named(claims, 'mysql-storage-mariadb-0', {
    metadata: {
      name: 'mysql-storage-mariadb-0',
      uid,
      labels,
      creationTimestamp: '2026-11-26T09:00:00Z',
      ...rest,
    },
  });
const backupClaim = (volume: string, handled?: string) =>
  named(claims, 'mariadb-backup', {
    metadata: {
      name: 'mariadb-backup',
      labels,
      annotations: {
        'multinic.io/database-volume': volume,
        ...(handled ? { 'multinic.io/restore': handled } : {}),
      },
    },
  });
const podSince = (installedAt?: string) =>
  databasePodWith(
    { terminated: { exitCode: 0, message: JSON.stringify({ version: '10.11.19', installedAt }) } },
    { isReady: true },
  );
const restored = (at: string) => ({
  databaseStatus: { lastRestore: { request: 'latest', file: 'a.sql', at, result: 'Succeeded' } },
});
/** The data claim with a restore that ends; the local clock is a year behind. */
const ending = ({ volume, failure }: { volume?: string; failure?: string }) => {
  const at = '2025-11-26T09:30:00Z';
  const outcome = { file: 'a.sql', at, touched: true, ...(failure ? { failure } : {}) };
  const times = { startedAt: at, deadline: at };
  const operation = {
    kind: 'restore',
    request: 'latest',
    step: 'finish',
    ...times,
    volume,
    outcome,
  };
  return dataClaim('a', {
    annotations: { 'multinic.io/operation': JSON.stringify({ operation }) },
  });
};
const reasonsOf = (scene: DatabaseInput) =>
  volumeNotices(observedDatabase(scene)).map(({ reason }) => reason);
const noteOf = (scene: DatabaseInput) => notedVolume(observedDatabase(scene));

const first = '2026-11-26T09:00:05Z';
const second = '2026-11-26T09:30:00Z';

describe("the data claim's volume", () => {
  it('a claim in deletion is VolumeLeaving, and the message names the finalizers', () => {
    const leaving = dataClaim('a', {
      deletionTimestamp: '2026-11-26T09:59:00Z',
      finalizers: ['kubernetes.io/pvc-protection'],
    });
    const [notice] = volumeNotices(observedDatabase({ live: [leaving] }));
    expect(notice).toMatchObject({ condition: 'Degraded', reason: 'VolumeLeaving' });
    expect(notice?.message).toContain('kubernetes.io/pvc-protection');
  });

  it('the backup claim notes the first volume, then the installation time', () => {
    expect(noteOf({ live: [dataClaim('a')] })).toBe('a');
    const noted = [dataClaim('a'), backupClaim('a')];
    expect(noteOf({ live: noted, pods: [podSince(first)] })).toBe(`a/${first}`);
    expect(noteOf({ live: [dataClaim('a'), backupClaim(`a/${first}`)] })).toBe(`a/${first}`);
    expect(noteOf({ live: noted, pods: [podSince()] })).toBe('a/unknown');
    for (const pods of [[], [podSince()]]) {
      const scene = { live: [dataClaim('a'), backupClaim(`a/${first}`)], pods };
      expect([reasonsOf(scene), noteOf(scene)]).toEqual([[], `a/${first}`]);
    }
  });

  it.each<readonly [string, DatabaseInput]>([
    ['a different claim', { live: [dataClaim('b'), backupClaim(`a/${first}`)] }],
    [
      'a different claim after a release without installation times',
      { live: [dataClaim('b'), backupClaim('a')] },
    ],
    [
      'an emptied volume under the same claim',
      { live: [dataClaim('a'), backupClaim(`a/${first}`)], pods: [podSince(second)] },
    ],
    [
      'an emptied volume that had data of an earlier release',
      { live: [dataClaim('a'), backupClaim('a/unknown')], pods: [podSince(second)] },
    ],
  ])(
    '%s is VolumeReplaced: scheduled backups are suspended, and no backup is removed',
    (_what, scene) => {
      expect(reasonsOf(scene)).toEqual(['VolumeReplaced']);
      expect(noteOf(scene)).toMatch(/^a/);
      const observed = observedDatabase(scene);
      expect([effectsOf(observed).suspendsBackups, retentionOf(observed)]).toEqual([true, 0]);
      const earlier = { ...scene, status: restored('2026-11-26T08:00:00Z') };
      expect(reasonsOf(earlier)).toEqual(['VolumeReplaced']);
    },
  );

  it('an ending restore or the value "empty" ends VolumeReplaced', () => {
    const live = [dataClaim('a'), backupClaim(`a/${first}`)];
    const replaced = { live, pods: [podSince(second)] };
    for (const accepted of [
      { ...replaced, live: [...live.slice(1), ending({})] },
      { ...replaced, live: [...live.slice(1), ending({ volume: `a/${second}` })] },
      { ...replaced, annotations: { 'multinic.io/restore': 'empty' } },
    ]) {
      expect(reasonsOf(accepted)).toEqual([]);
      expect(noteOf(accepted)).toBe(`a/${second}`);
      const observed = observedDatabase(accepted);
      const isRestoring = !('annotations' in accepted);
      expect([effectsOf(observed).suspendsBackups, retentionOf(observed)]).toEqual([
        isRestoring,
        7,
      ]);
    }
  });

  it.each<readonly [string, DatabaseInput]>([
    ['a failed restore', { live: [ending({ failure: 'full' })] }],
    ['a restore into an earlier volume', { live: [ending({ volume: `a/${first}` })] }],
    [
      'a result in the status',
      { live: [dataClaim('a')], status: restored('2026-11-26T09:40:00Z') },
    ],
  ])(
    '%s does not end VolumeReplaced, also with a later time by the local clock',
    (_what, scene) => {
      const live = [...(scene.live ?? []), backupClaim(`a/${first}`)];
      const replaced = { ...scene, live, pods: [podSince(second)] };
      expect(reasonsOf(replaced)).toEqual(['VolumeReplaced']);
      expect(noteOf(replaced)).toBe(`a/${first}`);
    },
  );

  it('a restored volume is noted although MariaDB restarts before the restore has ended', () => {
    const live = [ending({ volume: `a/${second}` }), backupClaim(`a/${first}`)];
    expect(noteOf({ live, pods: [databasePodWith({ running: {} })] })).toBe(`a/${second}`);
  });

  it.each([
    ['before', '2026-11-26T08:59:59Z', ['VolumeReplaced']],
    ['after', '2026-11-26T09:00:01Z', []],
  ])(
    "a swap whose Pod the API server created %s a different claim decides, not a node's clock",
    (_what, creationTimestamp, reasons) => {
      const pod = backupPod('mariadb-restore-swap-1-0', '2026-11-26T09:59:00Z', '');
      const swapped = { ...pod, metadata: { ...pod.metadata, creationTimestamp } };
      const live = [dataClaim('b'), backupClaim(`a/${first}`)];
      expect(reasonsOf({ live, pods: [podSince(second), swapped] })).toEqual(reasons);
      const emptied = { live: [dataClaim('a'), backupClaim(`a/${first}`)] };
      expect(reasonsOf({ ...emptied, pods: [podSince(second), swapped] })).toEqual([
        'VolumeReplaced',
      ]);
    },
  );

  it('the value "empty" accepts a single loss, "empty@TEXT" the next loss, and the note waits for a volume', () => {
    const sceneOf = (value: string, handled?: string) => ({
      live: [dataClaim('a'), backupClaim(`a/${first}`, handled)],
      pods: [podSince(second)],
      annotations: { 'multinic.io/restore': value },
    });
    const results = [sceneOf('empty'), sceneOf('empty', 'empty'), sceneOf('empty@2', 'empty')].map(
      (scene) => [...reasonsOf(scene), noteOf(scene), notedRequest(observedDatabase(scene))],
    );
    expect(results).toEqual([
      [`a/${second}`, 'empty'],
      ['VolumeReplaced', `a/${first}`, 'empty'],
      [`a/${second}`, 'empty@2'],
    ]);
    const waiting = { ...sceneOf('empty@2', 'empty'), live: [backupClaim('a', 'empty')] };
    expect(notedRequest(observedDatabase(waiting))).toBe('empty');
    expect(restoreRequest(observedDatabase(sceneOf('empty@2')))).toBeUndefined();
  });

  it('an emptied volume is VolumeReplaced after an earlier restore, also while the new Pod installs', () => {
    const status = restored('2026-11-26T09:20:00Z');
    let note: string | undefined = `a/${first}`;
    for (const pods of [[], [databasePodWith({ running: {} })], [podSince(second)]]) {
      note = noteOf({ live: [dataClaim('a'), backupClaim(note ?? '')], pods, status });
    }
    const scene = { live: [dataClaim('a'), backupClaim(note ?? '')], pods: [podSince(second)] };
    expect(reasonsOf({ ...scene, status })).toEqual(['VolumeReplaced']);
  });
});
