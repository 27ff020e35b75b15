import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { createFakeClock } from '../../time/fake-clock.ts';
import { type ControllerOptions, createController } from './controller.ts';

function bench(options: Pick<ControllerOptions, 'reconcile'> & Partial<ControllerOptions>) {
  const clock = createFakeClock();
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const controller = createController({
    name: 'test',
    workers: 2,
    sources: [],
    reflectors: [],
    clock,
    random: () => 0.5,
    ...options,
  });
  return { clock, controller, stop };
}

test("a slow reconcile's late failure ends the controller although keys are ready", async () => {
  const { clock, controller, stop } = bench({
    workers: 1,
    slowMs: 2_000,
    reconcile: async (key, signal) => {
      await clock.sleep(key === 'hung' ? 5_000 : 100, signal);
      if (key === 'busy') controller.enqueue(key);
    },
    onResult: ({ key }) => {
      if (key === 'hung') throw new Error('no such label');
    },
  });
  let outcome = 'running';
  controller.run(stop.signal).catch((error: unknown) => void (outcome = String(error)));
  for (const key of ['hung', 'busy']) controller.enqueue(key);
  await clock.advance(10_000);
  expect(outcome).toBe('Error: no such label');
});

test('a worker retains no memory of finished reconciles', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  let left = 0;
  const { controller, stop } = bench({
    reconcile: async (key) => (left-- > 0 ? controller.enqueue(key) : undefined),
    onResult: () => undefined,
  });
  void controller.run(stop.signal);
  const heapAfter = async (reconciles: number): Promise<number> => {
    left = reconciles;
    controller.enqueue('a');
    await expect.poll(() => left, { timeout: 60_000 }).toBeLessThan(0);
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = await heapAfter(5_000);
  expect((await heapAfter(50_000)) - before).toBeLessThan(5_000_000);
});
