import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rfc3339 } from '../../../api/condition.ts';
import { RequestError } from '../../../requests/request-error.ts';
import { openstackConfigs } from '../../model/openstack-config.ts';
import { attach, delivered, detach, type Scene, serverIds, setScene } from '../../testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

/** Returns each log line's text and the given fields. */
function logged(...fields: string[]): unknown[] {
  return scene.lines.map((line) => {
    const { msg, ...rest } = JSON.parse(line) as Record<string, unknown> & { msg: string };
    return [msg, ...fields.map((field) => rest[field])];
  });
}

/** Returns whether a reconcile after `afterMs` calls OpenStack. */
async function syncs(afterMs = 15_000): Promise<boolean> {
  const before = scene.cloud.calls;
  await scene.look(afterMs);
  return scene.cloud.calls > before;
}

/** Returns the requeue seconds of a reconcile after `afterMs`. */
async function seconds(afterMs = 0): Promise<number> {
  return Math.round(((await scene.look(afterMs)) ?? Number.NaN) / 1000);
}

/** Possible sync causes after a complete sync. */
const causes = {
  poll: async () => undefined,
  edit: async () => scene.edit({ vmNames: serverIds.slice(0, 1) }),
  asked: async () => scene.kube.annotate({ 'multinic.io/reconcile-at': 'now' }),
  forced: async () => scene.kube.annotate({ 'multinic.example.com/force-reconcile': 'now' }),
  allowRemovals: async () => scene.kube.annotate({ 'multinic.io/allow-removals': 'now' }),
  restart: async () => scene.restart(),
};
const inEveryMode = ['asked', 'forced', 'allowRemovals'];

describe.each([
  ['immediate', ['poll', 'edit', ...inEveryMode, 'restart']],
  ['scheduled', inEveryMode],
  ['manual', ['edit', ...inEveryMode]],
  ['webhook', inEveryMode],
  ['{mode: scheduled, immediateOnCRChange: true}', ['edit', ...inEveryMode]],
  ['{mode: manual, immediateOnCRChange: false}', inEveryMode],
  ['{mode: webhook, immediateOnCRChange: true}', ['edit', ...inEveryMode]],
])('trigger policy %s', (mode, syncing) => {
  const trigger = mode.startsWith('{') ? mode : `mode: ${mode}`;

  it.each(Object.keys(causes) as (keyof typeof causes)[])(
    'the policy decides whether a sync starts by cause %s',
    async (cause) => {
      scene.create();
      await scene.look();
      scene.trigger(trigger);
      await causes[cause]();
      expect(await syncs()).toBe(syncing.includes(cause));
    },
  );

  it('a new OpenstackConfig counts as changed', async () => {
    scene.trigger(trigger);
    scene.create();
    expect(await syncs()).toBe(syncing.includes('edit'));
  });

  it('an OpenstackConfig no longer paused counts as changed', async () => {
    scene.create();
    await scene.look();
    scene.trigger(trigger);
    scene.kube.annotate({ 'multinic.io/paused': 'true' });
    await scene.look();
    scene.kube.annotate({ 'multinic.io/paused': 'false' });
    expect(await syncs()).toBe(syncing.includes('edit'));
  });

  it('a deleted OpenstackConfig is cleaned up in every mode, even while paused', async () => {
    await delivered(scene);
    scene.trigger(trigger);
    scene.kube.annotate({ 'multinic.io/paused': 'true' });
    await scene.look();
    scene.kube.delete();
    expect(await scene.look()).toBeGreaterThan(0);
    expect(scene.viola.removals).toEqual(['worker-1', 'worker-2']);
    scene.viola.clean();
    await scene.look();
    expect(scene.object()).toBeUndefined();
  });

  it('a failed sync is repeated in every mode until success', async () => {
    attach(scene.cloud, 1, 1);
    scene.create();
    scene.kube.annotate({ 'multinic.io/reconcile-at': 'now' });
    scene.trigger(trigger);
    const { provided } = scene.clouds;
    scene.clouds.provided = new RequestError('away', {
      service: 'contrabass',
      kind: 'serverError',
    });
    expect(await scene.look()).toBeGreaterThan(0);
    expect(scene.ready()).toContain('False ContrabassError');
    scene.restart();
    expect(await scene.look()).toBeLessThan(300_000);
    scene.clouds.provided = provided;
    await scene.look(60_000);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
  });

  it('an unconfirmed removal is synced in every mode until evidence exists', async () => {
    await delivered(scene);
    scene.cloud.holdNovaEvents();
    detach(scene.cloud, 1);
    scene.kube.annotate({ 'multinic.io/reconcile-at': 'now' });
    scene.trigger(trigger);
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    scene.cloud.releaseNovaEvents();
    await scene.look();
    expect(scene.nics('worker-1')).toEqual([]);
  });
});

it('mode immediate requeues an OpenstackConfig', async () => {
  scene.create();
  expect(await seconds()).toBeGreaterThan(0);
});

describe('mode scheduled', () => {
  const every15 = '{mode: scheduled, interval: 15m, immediateOnCRChange: true}';

  it('mode scheduled syncs at each scheduled time and at no other time', async () => {
    scene.trigger(every15);
    scene.create();
    expect(await seconds(60_000)).toBe(14 * 60);
    expect(await seconds(60_000)).toBe(13 * 60);
    const { calls } = scene.cloud;
    expect(await seconds(13 * 60_000)).toBe(15 * 60);
    expect(scene.cloud.calls).toBeGreaterThan(calls);
    expect(await syncs(15_000)).toBe(false);
  });

  it('a timer that fires early causes no second sync', async () => {
    scene.trigger(every15);
    scene.create();
    await scene.look(1_000);
    const { calls } = scene.cloud;
    expect(await scene.reconcile(15 * 60_000 - 1_000 - 400)).toBe(15 * 60_000 + 400);
    expect(scene.cloud.calls).toBeGreaterThan(calls);
    expect(await syncs(400)).toBe(false);
  });

  it('a restart starts no sync before the next scheduled time, but makes up for a missed time', async () => {
    scene.trigger(every15);
    scene.create();
    await scene.look();
    scene.restart();
    expect(await syncs(15_000)).toBe(false);
    await scene.clock.advance(30 * 60_000);
    scene.restart();
    expect(await syncs(0)).toBe(true);
    expect(await syncs(60_000)).toBe(false);
  });

  it('a restart repeats no scheduled sync when lastSyncedAt is older than the last sync', async () => {
    scene.trigger('{mode: scheduled, interval: 5m, immediateOnCRChange: true}');
    scene.create();
    await scene.look(0);
    expect(await syncs(300_000)).toBe(true);
    expect(scene.status().lastSyncedAt).toBe('2026-01-01T00:00:00Z');
    scene.restart();
    expect(await syncs(60_000)).toBe(false);
    expect(await syncs(240_000)).toBe(true);
  });

  it('a clock set back by an hour delays no scheduled sync', async () => {
    scene.trigger(every15);
    scene.create();
    expect(await seconds(60_000)).toBe(14 * 60);
    scene.clock.setWall(-3_600_000);
    expect(await seconds(60_000)).toBe(13 * 60);
    expect(await syncs(13 * 60_000)).toBe(true);
    expect(await syncs(60_000)).toBe(false);
    scene.clock.setWall(3_600_000);
    expect(await syncs(0)).toBe(true);
    expect(await seconds(60_000)).toBe(13 * 60);
  });

  it('a clock set forward past a scheduled time delays the sync by at most an hour', async () => {
    scene.trigger('{mode: scheduled, schedule: "0 3 * * *", immediateOnCRChange: true}');
    scene.create();
    expect(await seconds()).toBe(3_600);
    expect(logged('nextRequeue')).toContainEqual(['Reconcile completed successfully', '3h']);
    expect(await seconds(3_600_000)).toBe(3_600);
    scene.clock.setWall(8 * 3_600_000);
    expect(await syncs(3_600_000)).toBe(true);
    expect(await syncs(3_600_000)).toBe(false);
  });

  it('a new term repeats no scheduled sync that another leader completed', async () => {
    scene.trigger(every15);
    scene.create();
    await scene.look(60_000);
    await scene.clock.advance(40 * 60_000);
    const object = scene.object();
    if (!object) throw new Error('there is no OpenstackConfig');
    const lastSyncedAt = rfc3339(scene.clock.now());
    const status = { ...scene.status(), lastSyncedAt };
    await scene.kube.applyStatus(openstackConfigs, { ...object, status }, {} as never);
    scene.leadAgain();
    expect(await syncs(60_000)).toBe(false);
    expect(await syncs(4 * 60_000)).toBe(true);
  });

  it('a recreated OpenstackConfig makes up for no scheduled time before its creation', async () => {
    scene.trigger('{mode: scheduled, interval: 15m}');
    scene.create();
    await scene.look();
    scene.kube.delete();
    await scene.look();
    expect(scene.object()).toBeUndefined();
    await scene.clock.advance(20 * 60_000);
    scene.create();
    expect(await syncs(60_000)).toBe(false);
  });

  it('a change waits for the next scheduled time without immediateOnCRChange', async () => {
    scene.trigger('{mode: scheduled, interval: 15m}');
    scene.create();
    expect(await seconds(60_000)).toBe(14 * 60);
    expect(scene.cloud.calls).toBe(0);
    expect(await syncs(14 * 60_000)).toBe(true);
  });

  it('an unfinished sync does not wait for the next scheduled time', async () => {
    scene.trigger(every15);
    scene.cloud.fail('portsOf', 'serverError');
    scene.create();
    expect(await seconds()).toBeLessThan(60);
    scene.cloud.heal();
    expect(await syncs(60_000)).toBe(true);
    expect(await syncs(60_000)).toBe(false);
  });

  it('a sync with a failed status write is repeated before the next scheduled time', async () => {
    scene.trigger(every15);
    scene.create();
    await scene.look();
    attach(scene.cloud, 1, 1);
    const { applyStatus } = scene.kube;
    scene.kube.applyStatus = async () => Promise.reject(new Error('away'));
    await expect(scene.look(15 * 60_000)).rejects.toThrow('away');
    scene.kube.applyStatus = applyStatus;
    expect(await syncs(1_000)).toBe(true);
  });
});

describe('a reason that only a user can resolve', () => {
  beforeEach(async () => {
    scene.create({ vmNames: [...serverIds, 'ffffffff-0000-4000-8000-000000000000'] });
    await scene.look();
    expect(scene.ready()).toContain('False ServerNotFound');
  });

  it('a reason that needs a user is not polled in mode manual', async () => {
    scene.trigger('mode: manual');
    expect(await syncs(300_000)).toBe(false);
    expect(await scene.look()).toBeUndefined();
    // The reasons from before the restart are unknown.
    scene.restart();
    expect(await syncs()).toBe(true);
    expect(await syncs(300_000)).toBe(false);
  });

  it('a retryable failure is retried although another reason needs a user', async () => {
    scene.trigger('mode: manual');
    attach(scene.cloud, 1, 1);
    scene.viola.refused.set('worker-1', 'Internal');
    scene.kube.annotate({ 'multinic.io/reconcile-at': 'now' });
    await scene.look();
    expect(scene.ready()).toContain('False ServerNotFound');
    scene.viola.refused.clear();
    await scene.look(300_000);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
  });
});

describe('a changed trigger policy', () => {
  it('a changed policy applies at the next reconcile', async () => {
    scene.create();
    await scene.look();
    scene.trigger('mode: manual');
    expect(await scene.look()).toBeUndefined();
    scene.trigger('{mode: scheduled, interval: 10m}');
    expect(await scene.look()).toBeLessThan(600_000);
    scene.trigger('{mode: scheduled, interval: 1h}');
    expect(await scene.look()).toBeGreaterThan(600_000);
    scene.trigger('');
    expect(await syncs()).toBe(true);
  });

  it('a policy changed during a sync applies right after the sync', async () => {
    const { applyStatus } = scene.kube;
    scene.kube.applyStatus = (async (...all: Parameters<typeof applyStatus>) => {
      scene.trigger('mode: manual');
      return applyStatus(...all);
    }) as typeof applyStatus;
    scene.create();
    expect(await scene.reconcile(0)).toBe(0);
    expect(await scene.reconcile(0)).toBeUndefined();
  });
});

// Seed 002, "로그 모니터링".
describe('trigger log lines', () => {
  it('the log has "Proceeding with reconcile" mode="scheduled" isCRChangeEvent=true', async () => {
    scene.trigger('{mode: scheduled, interval: 15m, immediateOnCRChange: true}');
    scene.create();
    await scene.look(0);
    expect(logged('mode', 'isCRChangeEvent')).toContainEqual([
      'Proceeding with reconcile',
      'scheduled',
      true,
    ]);
  });

  it('the log has "Reconcile skipped due to trigger configuration" mode="manual" isCRChangeEvent=false', async () => {
    scene.create();
    await scene.look();
    scene.trigger('mode: manual');
    await scene.look();
    expect(logged('mode', 'isCRChangeEvent', 'config')).toContainEqual([
      'Reconcile skipped due to trigger configuration',
      'manual',
      false,
      'multinic-system/osc',
    ]);
  });

  it('the log has "Immediate reconcile triggered by CR change event"', async () => {
    scene.create();
    await scene.look();
    expect(logged()).toContainEqual(['Immediate reconcile triggered by CR change event']);
    const { length } = scene.lines;
    await scene.look();
    expect(scene.lines).toHaveLength(length);
  });

  it('the log has "Reconcile completed successfully" triggerMode="scheduled" nextRequeue="15m"', async () => {
    scene.trigger('{mode: scheduled, interval: 15m, immediateOnCRChange: true}');
    scene.create();
    await scene.look(0);
    expect(logged('triggerMode', 'nextRequeue')).toContainEqual([
      'Reconcile completed successfully',
      'scheduled',
      '15m',
    ]);
  });

  it('the log states the next requeue, or never without a requeue', async () => {
    scene.trigger('{mode: scheduled, interval: 2h, immediateOnCRChange: true}');
    scene.create();
    await scene.look(55 * 60_000 + 20_000);
    scene.trigger('mode: manual');
    scene.edit({ vmNames: serverIds.slice(0, 1) });
    await scene.look();
    const completed = logged('nextRequeue').filter((line) =>
      String(line).startsWith('Reconcile c'),
    );
    expect(completed.map((line) => (line as string[])[1])).toEqual(['1h4m40s', 'never']);
  });

  it('the log states no success after a failed sync', async () => {
    scene.trigger('mode: manual');
    scene.cloud.fail('portsOf', 'serverError');
    scene.create();
    await scene.look();
    expect(logged().join()).not.toContain('completed');
  });
});
