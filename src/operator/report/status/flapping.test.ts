import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RequestError } from '../../../requests/request-error.ts';
import { attach, delivered, environment, type Scene, setScene } from '../../testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

const syncs = 1_000;

/** Syncs at each requeue time; `happens` runs before every sync. */
async function syncRepeatedly(happens: (n: number) => void, count = syncs): Promise<void> {
  let nextMs = 20_000;
  for (let n = 0; n < count; n++) {
    happens(n);
    nextMs = (await scene.look(nextMs)) ?? nextMs;
  }
}

function statusWrites(): number {
  return scene.kube.writes.filter((write) => write === 'status').length;
}

const failing = (n: number): void => {
  if (n % 2 === 0) scene.cloud.fail('portsOf', 'serverError');
  else scene.cloud.heal();
};

describe('1,000 syncs with flapping results', () => {
  it('1,000 syncs with alternating failures cost one write per ten minutes and at most eight events', async () => {
    await delivered(scene);
    const before = statusWrites();
    const from = scene.clock.monotonicMs();
    await syncRepeatedly(failing);
    const minutes = (scene.clock.monotonicMs() - from) / 60_000;
    expect(statusWrites() - before).toBeLessThanOrEqual(8 + minutes / 10);
    expect(scene.events.length).toBeLessThanOrEqual(8);
    // The problem stays in the status.
    expect(scene.ready()).toContain('False NeutronPortError');
    const syncedMs = scene.clock.now().getTime() - Date.parse(scene.status().lastSyncedAt ?? '');
    expect(syncedMs).toBeLessThanOrEqual(12 * 60_000);
  });

  it('1,000 failing syncs with two alternating reasons cost at most ten writes and ten events', async () => {
    await delivered(scene);
    const before = statusWrites();
    await syncRepeatedly((n) => {
      scene.cloud.heal();
      if (n % 2 === 0) scene.cloud.fail('portsOf', 'serverError');
      else scene.cloud.fail('subnet', 'serverError');
    });
    expect(statusWrites() - before).toBeLessThanOrEqual(10);
    expect(scene.events.length).toBeLessThanOrEqual(10);
  });

  it("100 failing syncs with a constant problem cost no write after the first sync, whatever order Viola's errors have", async () => {
    for (let n = 1; n <= 2; n++) attach(scene.cloud, n, n);
    for (const node of ['worker-1', 'worker-2']) scene.viola.refused.set(node, 'FieldConflict');
    const post = scene.viola.post.bind(scene.viola);
    let turn = 0;
    scene.viola.post = async (nodes) => {
      const answer = await post(nodes);
      return turn++ % 2 === 0 ? answer : { ...answer, errors: answer.errors.toReversed() };
    };
    scene.create();
    await scene.look();
    const before = statusWrites();
    await syncRepeatedly(() => undefined, 100);
    expect(statusWrites() - before).toBe(0);
    expect(scene.ready()).toContain('node worker-1');
  });
});

describe('FlapDamping with a flapping problem', () => {
  it('a flapping problem is reported as over after 30 s without a failure', async () => {
    await delivered(scene);
    await syncRepeatedly(failing, 31);
    expect(scene.ready()).toContain('False NeutronPortError');
    scene.cloud.heal();
    await scene.look(20_000);
    expect(scene.ready()).toContain('False');
    await scene.look(30_000);
    expect(scene.ready()).toBe('True NoChange: no changes detected');
  });

  it('after ten calm minutes a recovery is reported immediately', async () => {
    await delivered(scene);
    await syncRepeatedly(failing, 31);
    await scene.look(600_000);
    scene.cloud.heal();
    await scene.look(20_000);
    expect(scene.ready()).toContain('True');
  });

  it('flap damping does not delay an edit or a new problem', async () => {
    await delivered(scene);
    await syncRepeatedly(failing, 31);
    scene.cloud.heal();
    scene.edit({ vmNames: ['worker-1'] });
    await scene.look();
    expect(scene.status().observedGeneration).toBe(2);
    scene.viola.outage = new RequestError('gone', { service: 'viola', kind: 'unreachable' });
    attach(scene.cloud, 5, 1);
    await scene.look();
    expect(scene.ready()).toContain('False ViolaPostError');
  });
});

describe('flap damping between node reads', () => {
  const minuteMs = 60_000;

  /** Reads nodes every five seconds and syncs when due. */
  async function pass(ms: number): Promise<void> {
    const end = scene.clock.monotonicMs() + ms;
    while (scene.clock.monotonicMs() < end) {
      await scene.readNodes(5_000);
      if (scene.clock.monotonicMs() < dueMs) continue;
      dueMs = scene.clock.monotonicMs() + ((await scene.reconcile(0)) ?? minuteMs);
    }
  }

  async function fails(ms: number): Promise<void> {
    scene.cloud.fail('portsOf', 'serverError');
    await pass(ms);
    scene.cloud.heal();
  }

  let dueMs = 0;

  it.each([
    {
      title: 'reports the end of a short outage',
      outages: 1,
      lastMs: 1.5 * minuteMs,
      calmMs: 120 * minuteMs,
      settings: {},
      ready: /^True/,
    },
    {
      title: 'reports a long outage after five short ones',
      outages: 5,
      lastMs: 20 * minuteMs,
      calmMs: 0,
      settings: { POLL_SLOW_INTERVAL: '30s' },
      ready: /^False NeutronPortError/,
    },
  ])('$title', async ({ outages, lastMs, calmMs, settings, ready }) => {
    await scene[Symbol.asyncDispose]();
    scene = await setScene({ ...environment, ...settings });
    dueMs = 0;
    await delivered(scene);
    scene.viola.report('Configured');
    await pass(15 * minuteMs);
    for (let n = 1; n < outages; n++) {
      await fails(minuteMs);
      await pass(2.5 * minuteMs);
    }
    await fails(lastMs);
    await pass(calmMs);
    expect(scene.ready()).toMatch(ready);
  });
});
