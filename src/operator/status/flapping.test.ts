import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RequestError } from '../../requests/request-error.ts';
import { attach, delivered, type Scene, setScene } from '../testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

const looks = 1_000;

/** Looks as the pace says, each of them after something happened. */
async function lookAgainAndAgain(happens: (n: number) => void, count = looks): Promise<void> {
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

describe('a thousand looks', () => {
  it('of which every other one fails cost a write every ten minutes and eight events', async () => {
    await delivered(scene);
    const before = statusWrites();
    const from = scene.clock.monotonicMs();
    await lookAgainAndAgain(failing);
    const minutes = (scene.clock.monotonicMs() - from) / 60_000;
    expect(statusWrites() - before).toBeLessThanOrEqual(8 + minutes / 10);
    expect(scene.events.length).toBeLessThanOrEqual(8);
    // Bad news are the ones that stay.
    expect(scene.ready()).toContain('False NeutronPortError');
    const syncedMs = scene.clock.now().getTime() - Date.parse(scene.status().lastSyncedAt ?? '');
    expect(syncedMs).toBeLessThanOrEqual(12 * 60_000);
  });

  it('that fail for one of two reasons in turn cost ten writes and as many events', async () => {
    await delivered(scene);
    const before = statusWrites();
    await lookAgainAndAgain((n) => {
      scene.cloud.heal();
      if (n % 2 === 0) scene.cloud.fail('portsOf', 'serverError');
      else scene.cloud.fail('subnet', 'serverError');
    });
    expect(statusWrites() - before).toBeLessThanOrEqual(10);
    expect(scene.events.length).toBeLessThanOrEqual(10);
  });

  it('that fail as the thousand did before cost one write, in whatever order answers come', async () => {
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
    await lookAgainAndAgain(() => undefined, 100);
    expect(statusWrites() - before).toBe(0);
    expect(scene.ready()).toContain('node worker-1');
  });
});

describe('what came and went', () => {
  it('is told when it is over for good', async () => {
    await delivered(scene);
    await lookAgainAndAgain(failing, 31);
    expect(scene.ready()).toContain('False NeutronPortError');
    scene.cloud.heal();
    await scene.look(20_000);
    expect(scene.ready()).toContain('False');
    await scene.look(30_000);
    expect(scene.ready()).toBe('True NoChange: no changes detected');
  });

  it('is told at once again after ten calm minutes', async () => {
    await delivered(scene);
    await lookAgainAndAgain(failing, 31);
    await scene.look(600_000);
    scene.cloud.heal();
    await scene.look(20_000);
    expect(scene.ready()).toContain('True');
  });

  it('is not in the way of what is new', async () => {
    await delivered(scene);
    await lookAgainAndAgain(failing, 31);
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
