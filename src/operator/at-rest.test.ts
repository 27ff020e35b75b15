import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type BehindFront, openBehindFront } from '../../test/fixtures/behind-front.ts';
import { scaled } from '../../test/speed.ts';

const syncs = process.env['MULTINIC_TEST_DEPTH'] === 'all' ? 10_000 : 4_000;
/** Caches and compiled code have come to their size by then. */
const warmUp = 1_000;
let place: BehindFront;

beforeEach(async () => {
  place = await openBehindFront();
});

afterEach(async () => place[Symbol.asyncDispose]());

/** Looks so many times, each when it is due; what stand-ins write down of it goes. */
async function look(times: number, firstMs: number): Promise<number> {
  let nextMs = firstMs;
  for (let n = 0; n < times; n++) {
    nextMs = await place.pass(nextMs);
    const { front, scene } = place;
    const told = [front.asked, scene.lines, scene.asked, scene.effects, scene.viola.lists];
    for (const each of told) each.length = 0;
  }
  return nextMs;
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Megabytes that are in use after everything else was thrown away. */
function heapMb(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

it(
  `after ${syncs} syncs nothing has grown, and nothing was written but the time of the last one`,
  async () => {
    const { front, scene, clock } = place;
    const { events } = scene;
    const { writes } = scene.kube;
    const nextMs = await look(warmUp, 0);
    const before = { heap: heapMb(), connections: front.connections, events: events.length };
    const rows = await scene.store.list();
    const written = writes.length;
    const rested = clock.monotonicMs();
    await look(syncs - warmUp, nextMs);
    const tenMinutes = (clock.monotonicMs() - rested) / 600_000;
    expect(writes.length - written).toBeLessThanOrEqual(tenMinutes + 1);
    expect(new Set(writes.slice(written))).toEqual(new Set(['status']));
    expect(events).toHaveLength(before.events);
    expect(await scene.store.list()).toEqual(rows);
    // Each keeps to the connections that it has; one is renewed now and then.
    expect(front.connections - before.connections).toBeLessThan((syncs - warmUp) / 10);
    // The heap goes up and down by 2 MB; a leak of 2 kB per sync is more than that.
    expect(heapMb() - before.heap).toBeLessThan(5);
    expect(scene.ready()).toMatch(/^True /);
  },
  scaled(300_000),
);
