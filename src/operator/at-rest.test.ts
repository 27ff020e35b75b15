import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type BehindFront, openBehindFront } from '../../test/fixtures/behind-front.ts';
import { scaled } from '../../test/speed.ts';

const syncs = process.env['MULTINIC_TEST_DEPTH'] === 'all' ? 10_000 : 900;
/** Syncs until caches and compiled code have their final size. */
const warmUp = 500;
let fixture: BehindFront;

beforeEach(async () => {
  fixture = await openBehindFront();
});

afterEach(async () => fixture[Symbol.asyncDispose]());

/** Syncs `times` times, each when due, and clears the logs kept by fakes. */
async function syncTimes(times: number, firstMs: number): Promise<number> {
  let nextMs = firstMs;
  for (let n = 0; n < times; n++) {
    nextMs = await fixture.pass(nextMs);
    const { front, scene } = fixture;
    const logs = [front.asked, scene.lines, scene.asked, scene.effects, scene.viola.lists];
    for (const each of logs) each.length = 0;
  }
  return nextMs;
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Returns the used heap in MB after a garbage collection. */
function heapMb(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

it(
  `${syncs} syncs without changes grow neither heap nor records, and write only the sync time`,
  async () => {
    const { front, scene, clock } = fixture;
    const { events } = scene;
    const { writes } = scene.kube;
    const nextMs = await syncTimes(warmUp, 0);
    const before = { heap: heapMb(), connections: front.connections, events: events.length };
    const rows = await scene.store.list();
    const written = writes.length;
    const rested = clock.monotonicMs();
    await syncTimes(syncs - warmUp, nextMs);
    const tenMinutes = (clock.monotonicMs() - rested) / 600_000;
    expect(writes.length - written).toBeLessThanOrEqual(tenMinutes + 1);
    expect(new Set(writes.slice(written))).toEqual(new Set(['status']));
    expect(events).toHaveLength(before.events);
    expect(await scene.store.list()).toEqual(rows);
    // Connections are reused; an occasional renewal is normal.
    expect(front.connections - before.connections).toBeLessThan((syncs - warmUp) / 10);
    // The heap varies by 2 MB; a leak of 15 kB per sync would be larger, with all syncs one of 1 kB.
    expect(heapMb() - before.heap).toBeLessThan(5);
    expect(scene.ready()).toMatch(/^True /);
  },
  scaled(300_000),
);
