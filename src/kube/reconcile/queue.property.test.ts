import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '../../time/fake-clock.ts';
import { WorkQueue } from './queue.ts';

type Step =
  | { readonly kind: 'add'; readonly key: string }
  | { readonly kind: 'addAfter'; readonly key: string; readonly ms: number }
  | { readonly kind: 'advance'; readonly ms: number };

interface Work {
  readonly ms: number;
  readonly end: 'done' | 'retry' | 'again';
}

const key = fc.constantFrom('a', 'b', 'c', 'd');
const step = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), key }),
  fc.record({ kind: fc.constant('addAfter' as const), key, ms: fc.nat(3_000) }),
  fc.record({ kind: fc.constant('advance' as const), ms: fc.nat(2_000) }),
);
const work = fc.record({
  ms: fc.nat(1_500),
  end: fc.constantFrom('done' as const, 'retry' as const, 'again' as const),
});

/** Starts workers that record all starts and collisions. */
function staff(queue: WorkQueue, clock: FakeClock, works: readonly Work[]) {
  const stop = new AbortController();
  const busy = new Set<string>();
  const startedAt = new Map<string, number>();
  let order = 0;
  let worksDone = 0;
  let collisions = 0;

  async function run(): Promise<void> {
    for (
      let taken = await queue.take(stop.signal);
      taken !== undefined;
      taken = await queue.take(stop.signal)
    ) {
      if (busy.has(taken)) collisions++;
      busy.add(taken);
      startedAt.set(taken, ++order);
      const { ms, end } = works[worksDone++] ?? { ms: 1, end: 'done' };
      await clock.sleep(ms);
      if (end === 'retry') queue.retry(taken);
      else queue.forget(taken);
      if (end === 'again') queue.addAfter(taken, 10);
      busy.delete(taken);
      queue.done(taken);
    }
  }

  return {
    running: [run(), run(), run()],
    stop,
    tick: () => ++order,
    startedAt,
    collisions: () => collisions,
  };
}

test('no key is lost and no two workers share a key under any timing', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 30 }),
      fc.array(work, { maxLength: 30 }),
      async (steps, works) => {
        const clock = createFakeClock();
        const queue = new WorkQueue({ clock, random: () => 0.5 });
        const workers = staff(queue, clock, works);
        const wantedAfter = new Map<string, number>();
        for (const each of steps as readonly Step[]) {
          if (each.kind === 'advance') {
            await clock.advance(each.ms);
            continue;
          }
          wantedAfter.set(each.key, workers.tick());
          if (each.kind === 'add') queue.add(each.key);
          else queue.addAfter(each.key, each.ms);
        }
        await clock.advance(3_600_000);
        expect(workers.collisions()).toBe(0);
        for (const [wanted, at] of wantedAfter)
          expect(workers.startedAt.get(wanted)).toBeGreaterThan(at);
        expect([queue.depth, clock.waits]).toEqual([0, []]);
        workers.stop.abort();
        await Promise.all(workers.running);
      },
    ),
    { numRuns: 60 },
  );
});
