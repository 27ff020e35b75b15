import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rfc3339 } from '../../api/condition.ts';
import { RequestError } from '../../requests/request-error.ts';
import { openstackConfigs } from '../openstack-config.ts';
import { attach, delivered, detach, type Scene, serverIds, setScene } from '../testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

/** A line of the log: its text, and the fields that are asked for. */
function said(...fields: string[]): unknown[] {
  return scene.lines.map((line) => {
    const { msg, ...rest } = JSON.parse(line) as Record<string, unknown> & { msg: string };
    return [msg, ...fields.map((field) => rest[field])];
  });
}

/** Whether a look of `afterMs` later reads the cloud. */
async function looks(afterMs = 15_000): Promise<boolean> {
  const before = scene.cloud.calls;
  await scene.look(afterMs);
  return scene.cloud.calls > before;
}

/** Seconds until it comes up again, when it is looked at so much later. */
async function seconds(afterMs = 0): Promise<number> {
  return Math.round(((await scene.look(afterMs)) ?? Number.NaN) / 1000);
}

/** Brings about what a look could be for; the OpenstackConfig is synced before. */
const causes = {
  poll: async () => undefined,
  edit: async () => scene.edit({ vmNames: serverIds.slice(0, 1) }),
  asked: async () => scene.kube.annotate({ 'multinic.io/reconcile-at': 'now' }),
  forced: async () => scene.kube.annotate({ 'multinic.example.com/force-reconcile': 'now' }),
  leave: async () => scene.kube.annotate({ 'multinic.io/allow-removals': 'now' }),
  restart: async () => scene.restart(),
};
const everybodys = ['asked', 'forced', 'leave'];

describe.each([
  ['immediate', ['poll', 'edit', ...everybodys, 'restart']],
  ['scheduled', everybodys],
  ['manual', ['edit', ...everybodys]],
  ['webhook', everybodys],
  ['{mode: scheduled, immediateOnCRChange: true}', ['edit', ...everybodys]],
  ['{mode: manual, immediateOnCRChange: false}', everybodys],
  ['{mode: webhook, immediateOnCRChange: true}', ['edit', ...everybodys]],
])('in mode %s', (mode, looked) => {
  const trigger = mode.startsWith('{') ? mode : `mode: ${mode}`;

  it.each(Object.keys(causes) as (keyof typeof causes)[])('a cause of looks: %s', async (cause) => {
    scene.create();
    await scene.look();
    scene.trigger(trigger);
    await causes[cause]();
    expect(await looks()).toBe(looked.includes(cause));
  });

  it('a new OpenstackConfig is a changed one', async () => {
    scene.trigger(trigger);
    scene.create();
    expect(await looks()).toBe(looked.includes('edit'));
  });

  it('one that is paused no longer is a changed one', async () => {
    scene.create();
    await scene.look();
    scene.trigger(trigger);
    scene.kube.annotate({ 'multinic.io/paused': 'true' });
    await scene.look();
    scene.kube.annotate({ 'multinic.io/paused': 'false' });
    expect(await looks()).toBe(looked.includes('edit'));
  });

  it('a deleted one is taken back from its nodes and goes, and so is a paused one', async () => {
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

  it('a look that failed is made again until it comes through', async () => {
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

  it('a removal that nothing proves yet is looked at until something does', async () => {
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

it('in mode immediate one comes up again by itself', async () => {
  scene.create();
  expect(await seconds()).toBeGreaterThan(0);
});

describe('in mode scheduled', () => {
  const every15 = '{mode: scheduled, interval: 15m, immediateOnCRChange: true}';

  it('one comes up at each time of the schedule, and at no other', async () => {
    scene.trigger(every15);
    scene.create();
    expect(await seconds(60_000)).toBe(14 * 60);
    expect(await seconds(60_000)).toBe(13 * 60);
    const { calls } = scene.cloud;
    expect(await seconds(13 * 60_000)).toBe(15 * 60);
    expect(scene.cloud.calls).toBeGreaterThan(calls);
    expect(await looks(15_000)).toBe(false);
  });

  it('a timer that rings early is no reason to look twice', async () => {
    scene.trigger(every15);
    scene.create();
    await scene.look(1_000);
    const { calls } = scene.cloud;
    expect(await scene.reconcile(15 * 60_000 - 1_000 - 400)).toBe(15 * 60_000 + 400);
    expect(scene.cloud.calls).toBeGreaterThan(calls);
    expect(await looks(400)).toBe(false);
  });

  it('a restart looks at nothing that is synced, but makes up for a time that passed meanwhile', async () => {
    scene.trigger(every15);
    scene.create();
    await scene.look();
    scene.restart();
    expect(await looks(15_000)).toBe(false);
    await scene.clock.advance(30 * 60_000);
    scene.restart();
    expect(await looks(0)).toBe(true);
    expect(await looks(60_000)).toBe(false);
  });

  it('a restart makes up for no time that was kept, though the status does not say each look', async () => {
    scene.trigger('{mode: scheduled, interval: 5m, immediateOnCRChange: true}');
    scene.create();
    await scene.look(0);
    expect(await looks(300_000)).toBe(true);
    expect(scene.status().lastSyncedAt).toBe('2026-01-01T00:00:00Z');
    scene.restart();
    expect(await looks(60_000)).toBe(false);
    expect(await looks(240_000)).toBe(true);
  });

  it('a clock that is set back by an hour puts no look off', async () => {
    scene.trigger(every15);
    scene.create();
    expect(await seconds(60_000)).toBe(14 * 60);
    scene.clock.setWall(-3_600_000);
    expect(await seconds(60_000)).toBe(13 * 60);
    expect(await looks(13 * 60_000)).toBe(true);
    expect(await looks(60_000)).toBe(false);
    scene.clock.setWall(3_600_000);
    expect(await looks(0)).toBe(true);
    expect(await seconds(60_000)).toBe(13 * 60);
  });

  it('a clock that is set forward past a time puts the look off by an hour at most', async () => {
    scene.trigger('{mode: scheduled, schedule: "0 3 * * *", immediateOnCRChange: true}');
    scene.create();
    expect(await seconds()).toBe(3_600);
    expect(said('nextRequeue')).toContainEqual(['Reconcile completed successfully', '3h']);
    expect(await seconds(3_600_000)).toBe(3_600);
    scene.clock.setWall(8 * 3_600_000);
    expect(await looks(3_600_000)).toBe(true);
    expect(await looks(3_600_000)).toBe(false);
  });

  it('times that another process kept are none to be made up for by one that leads again', async () => {
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
    expect(await looks(60_000)).toBe(false);
    expect(await looks(4 * 60_000)).toBe(true);
  });

  it('one that is made again under its name makes up for no time before it', async () => {
    scene.trigger('{mode: scheduled, interval: 15m}');
    scene.create();
    await scene.look();
    scene.kube.delete();
    await scene.look();
    expect(scene.object()).toBeUndefined();
    await scene.clock.advance(20 * 60_000);
    scene.create();
    expect(await looks(60_000)).toBe(false);
  });

  it('a change waits for the next time when it is not immediate', async () => {
    scene.trigger('{mode: scheduled, interval: 15m}');
    scene.create();
    expect(await seconds(60_000)).toBe(14 * 60);
    expect(scene.cloud.calls).toBe(0);
    expect(await looks(14 * 60_000)).toBe(true);
  });

  it('what is unfinished does not wait for the next time', async () => {
    scene.trigger(every15);
    scene.cloud.fail('portsOf', 'serverError');
    scene.create();
    expect(await seconds()).toBeLessThan(60);
    scene.cloud.heal();
    expect(await looks(60_000)).toBe(true);
    expect(await looks(60_000)).toBe(false);
  });

  it('a look that cannot be written down is made again, and not put off', async () => {
    scene.trigger(every15);
    scene.create();
    await scene.look();
    attach(scene.cloud, 1, 1);
    const { applyStatus } = scene.kube;
    scene.kube.applyStatus = async () => Promise.reject(new Error('away'));
    await expect(scene.look(15 * 60_000)).rejects.toThrow('away');
    scene.kube.applyStatus = applyStatus;
    expect(await looks(1_000)).toBe(true);
  });
});

describe('what nobody but a person ends', () => {
  beforeEach(async () => {
    scene.create({ vmNames: [...serverIds, 'ffffffff-0000-4000-8000-000000000000'] });
    await scene.look();
    expect(scene.ready()).toContain('False ServerNotFound');
  });

  it('is not polled for in mode manual', async () => {
    scene.trigger('mode: manual');
    expect(await looks(300_000)).toBe(false);
    expect(await scene.look()).toBeUndefined();
    // Nobody knows what else was wrong.
    scene.restart();
    expect(await looks()).toBe(true);
    expect(await looks(300_000)).toBe(false);
  });

  it('hides nothing that ends by itself', async () => {
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

describe('another policy', () => {
  it('holds for the next look of all, and for one that is under way', async () => {
    scene.create();
    await scene.look();
    scene.trigger('mode: manual');
    expect(await scene.look()).toBeUndefined();
    scene.trigger('{mode: scheduled, interval: 10m}');
    expect(await scene.look()).toBeLessThan(600_000);
    scene.trigger('{mode: scheduled, interval: 1h}');
    expect(await scene.look()).toBeGreaterThan(600_000);
    scene.trigger('');
    expect(await looks()).toBe(true);
  });

  it('that comes during a look is asked after it', async () => {
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
describe('the log', () => {
  it('"Proceeding with reconcile" mode="scheduled" isCRChangeEvent=true', async () => {
    scene.trigger('{mode: scheduled, interval: 15m, immediateOnCRChange: true}');
    scene.create();
    await scene.look(0);
    expect(said('mode', 'isCRChangeEvent')).toContainEqual([
      'Proceeding with reconcile',
      'scheduled',
      true,
    ]);
  });

  it('"Reconcile skipped due to trigger configuration" mode="manual" isCRChangeEvent=false', async () => {
    scene.create();
    await scene.look();
    scene.trigger('mode: manual');
    await scene.look();
    expect(said('mode', 'isCRChangeEvent', 'config')).toContainEqual([
      'Reconcile skipped due to trigger configuration',
      'manual',
      false,
      'multinic-system/osc',
    ]);
  });

  it('"Immediate reconcile triggered by CR change event"', async () => {
    scene.create();
    await scene.look();
    expect(said()).toContainEqual(['Immediate reconcile triggered by CR change event']);
    const { length } = scene.lines;
    await scene.look();
    expect(scene.lines).toHaveLength(length);
  });

  it('"Reconcile completed successfully" triggerMode="scheduled" nextRequeue="15m"', async () => {
    scene.trigger('{mode: scheduled, interval: 15m, immediateOnCRChange: true}');
    scene.create();
    await scene.look(0);
    expect(said('triggerMode', 'nextRequeue')).toContainEqual([
      'Reconcile completed successfully',
      'scheduled',
      '15m',
    ]);
  });

  it('says when one comes up again, if it does', async () => {
    scene.trigger('{mode: scheduled, interval: 2h, immediateOnCRChange: true}');
    scene.create();
    await scene.look(55 * 60_000 + 20_000);
    scene.trigger('mode: manual');
    scene.edit({ vmNames: serverIds.slice(0, 1) });
    await scene.look();
    const completed = said('nextRequeue').filter((line) => String(line).startsWith('Reconcile c'));
    expect(completed.map((line) => (line as string[])[1])).toEqual(['1h4m40s', 'never']);
  });

  it('says nothing of success when there is none', async () => {
    scene.trigger('mode: manual');
    scene.cloud.fail('portsOf', 'serverError');
    scene.create();
    await scene.look();
    expect(said().join()).not.toContain('completed');
  });
});
