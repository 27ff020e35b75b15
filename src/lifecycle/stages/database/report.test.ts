import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../kube/core-resources.ts';
import {
  databasePodWith,
  observedDatabase,
  prepared,
  readyPod,
  statefulSet,
  withSecret,
} from '../../testing/database-scene.ts';
import { database } from './database.ts';

const unbound = 'pod has unbound immediate PersistentVolumeClaims';
const unscheduled: Pod = {
  metadata: { namespace: 'multinic-system', name: 'mariadb-0' },
  status: {
    conditions: [
      { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: unbound },
    ],
  },
};

describe('the database phase', () => {
  it.each<readonly [string, string, Pod | undefined, object, RegExp | undefined]>([
    ['the server answers', 'Ready', readyPod, { version: '10.11.19', readyReplicas: 1 }, undefined],
    ['the Pod is missing', 'Progressing', undefined, {}, undefined],
    [
      'only the StatefulSet is observed as ready',
      'Progressing',
      databasePodWith({ running: {} }),
      { readyReplicas: 1 },
      undefined,
    ],
    [
      'the data is of a newer series',
      'Error',
      databasePodWith({ terminated: { exitCode: 3, message: 'the data is of MariaDB 11.8.9' } }),
      {},
      /11\.8\.9/,
    ],
    [
      'a refused volume is checked again',
      'Error',
      databasePodWith(
        { running: {} },
        { last: { terminated: { exitCode: 4, message: 'foreign' } } },
      ),
      {},
      /foreign/,
    ],
    [
      'the image cannot be pulled',
      'Degraded',
      databasePodWith({ waiting: { reason: 'ErrImagePull', message: 'not found' } }),
      {},
      /image "" cannot be pulled; .*spec\.database\.image/,
    ],
    [
      'the claim is unbound',
      'Degraded',
      unscheduled,
      {},
      /Pod mariadb-0: Unschedulable: pod has unbound immediate PersistentVolumeClaims/,
    ],
    [
      'the server crashes repeatedly',
      'Degraded',
      databasePodWith(prepared, {
        server: [
          { waiting: { reason: 'CrashLoopBackOff' } },
          { terminated: { exitCode: 137, reason: 'OOMKilled' } },
        ],
      }),
      {},
      /137 \(OOMKilled\).*kubectl -n multinic-system describe pod mariadb-0/,
    ],
  ])('if %s, the phase is %s', (_what, phase, pod, rest, message) => {
    const { report } = database(
      observedDatabase({ live: [withSecret(), statefulSet()], pods: pod ? [pod] : [] }),
    );
    expect(report).toMatchObject({ phase, ...rest });
    if (message) expect(report.message).toMatch(message);
    else expect(report.message).toBeUndefined();
  });

  it('a Pod in deletion is requeued for the time at which it counts as lost', () => {
    const pod = databasePodWith(prepared, { deletionTimestamp: '2026-11-26T07:00:00Z' });
    const scene = { live: [withSecret(), statefulSet()], pods: [pod] };
    const plan = database(observedDatabase({ ...scene, databaseEndingMs: 60_000 }));
    expect(plan.report.phase).toBe('Progressing');
    expect(plan.requeueAfterMs).toBe(120_000);
    const { report } = database(observedDatabase({ ...scene, databaseEndingMs: 180_000 }));
    expect(report.phase).toBe('Degraded');
    expect(report.message).toMatch(/taint node node-1 node\.kubernetes\.io\/out-of-service/);
    expect(report.message).toContain('kubectl -n multinic-system delete pod mariadb-0 --force');
  });
});
