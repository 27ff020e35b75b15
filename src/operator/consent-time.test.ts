import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConfigObject } from './model/openstack-config.ts';
import { detach, type Scene, setScene } from './testing/scene.ts';
import { both, deliverTwenty, nicsLeft, onlyB } from './testing/twenty-nics.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

async function holdEleven(): Promise<void> {
  await deliverTwenty(scene, 11);
  scene.edit(onlyB);
  await scene.look();
  expect(scene.ready()).toContain('OverBudget: 11 of 20');
}

function allow(value: string): void {
  scene.kube.annotate({ 'multinic.io/allow-removals': value });
}

describe('a consent with a time in RFC 3339', () => {
  it.each<[what: string, ms: number, message: string | undefined]>([
    ['given now', 0, undefined],
    ['given 4 minutes before the hold', -4 * minuteMs, undefined],
    ['given 6 minutes before the hold', -6 * minuteMs, 'is older than the hold of '],
    ['given 61 minutes ago', -61 * minuteMs, 'is older than an hour'],
    ['given in 4 minutes', 4 * minuteMs, undefined],
    ['given in 6 minutes', 6 * minuteMs, 'is more than 5 minutes in the future'],
  ])('a consent %s (%i ms)', async (_, ms, message) => {
    await holdEleven();
    const value = new Date(scene.clock.now().getTime() + ms).toISOString();
    allow(value);
    await scene.look(1_000);
    expect(nicsLeft(scene)).toBe(message === undefined ? 9 : 20);
    if (message === undefined) return;
    for (let syncs = 0; syncs < 2; syncs++) {
      expect(scene.ready()).toContain(`the consent of ${value} ${message}`);
      await scene.look(6 * minuteMs);
    }
    expect(nicsLeft(scene)).toBe(20);
    allow(scene.clock.now().toISOString());
    await scene.look(1_000);
    expect(nicsLeft(scene)).toBe(9);
  });

  it('a refused consent ends when nothing waits any more', async () => {
    await holdEleven();
    const value = new Date(scene.clock.now().getTime() - 2 * hourMs).toISOString();
    allow(value);
    await scene.look(1_000);
    expect(scene.status().lastHandledAllowRemovals).toBeUndefined();
    for (let n = 1; n <= 11; n++) detach(scene.cloud, n);
    await scene.look();
    expect(scene.status()).toMatchObject({ lastHandledAllowRemovals: value });
    expect(scene.ready()).toContain('True');
  });

  it('a consent restored by GitOps after a newer consent releases nothing', async () => {
    await deliverTwenty(scene, 11);
    const first = scene.clock.now().toISOString();
    for (const value of [first, 'by hand']) {
      allow(value);
      await scene.look();
      expect(scene.status().lastHandledAllowRemovals).toBe(value);
    }
    await scene.clock.advance(6 * minuteMs);
    scene.edit(onlyB);
    await scene.look();
    allow(first);
    await scene.look();
    expect(nicsLeft(scene)).toBe(20);
  });

  it('an unused consent in a day-old backup releases nothing', async () => {
    await deliverTwenty(scene, 11);
    scene.edit(onlyB);
    await scene.look();
    allow(scene.clock.now().toISOString());
    const { metadata, ...rest } = scene.object() as ConfigObject;
    await scene.look();
    expect(nicsLeft(scene)).toBe(9);
    scene.edit(both);
    await scene.look();
    await scene.look();
    expect(nicsLeft(scene)).toBe(20);
    await scene.clock.advance(24 * hourMs);
    const restored = { ...metadata, resourceVersion: 'restored' };
    scene.kube.configs.upsert({ ...rest, metadata: restored });
    scene.restart();
    await scene.look();
    expect(nicsLeft(scene)).toBe(20);
    expect(scene.ready()).toContain('is older than an hour');
  });
});
