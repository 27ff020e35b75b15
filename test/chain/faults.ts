import { expect } from 'vitest';
import { applyConfig, attach, detach } from './acts.ts';
import {
  expectUnchanged,
  type Standing,
  standingOf,
  untilConfigIsReady,
  untilConfigured,
} from './waits.ts';
import type { Worker, World } from './world.ts';

export interface Fault {
  readonly cause: () => unknown;
  /** Resolves once it is told where people look for it. */
  readonly told: () => Promise<unknown>;
  /** Takes the cause away, and nothing else; may be called twice. */
  readonly cure: () => unknown;
  /** Who gets newly attached ports all the same. */
  readonly delivered: readonly Worker[];
}

/** Two workers with one NIC each, and all is well. */
export async function settle(world: World): Promise<void> {
  for (const worker of world.workers.slice(0, 2)) {
    await applyConfig(world, worker);
    await untilConfigIsReady(world, worker);
    await attach(world, worker);
  }
  for (const worker of world.workers.slice(0, 2)) await untilConfigured(world, worker, 'multinic0');
}

/**
 * Lives through a trouble of the first worker: it is told, takes nothing away, keeps nobody else from his new NIC, and
 * when its cause is gone the first worker gets its own. Afterwards the world is as it was.
 */
export async function endure(world: World, { cause, told, cure, delivered }: Fault): Promise<void> {
  const [one, two] = world.workers;
  if (!one || !two) throw new Error('the world needs two workers');
  const pair = [one, two];
  await Promise.all(pair.map((worker) => untilConfigured(world, worker, 'multinic0')));
  const before = await standingsOf(world, pair);
  await using after = new AsyncDisposableStack();
  after.defer(() => applyConfig(world, one));
  after.defer(async () => void (await cure()));
  await cause();
  await told();
  for (const worker of pair) {
    const { port_id } = await attach(world, worker);
    after.defer(() => detach(world, worker, port_id));
  }
  for (const worker of delivered) await untilConfigured(world, worker, 'multinic0', 'multinic1');
  await told();
  for (const [i, standing] of (await standingsOf(world, pair)).entries()) {
    expectUnchanged(standing, before[i] as Standing);
  }
  await cure();
  for (const worker of pair) {
    await untilConfigured(world, worker, 'multinic0', 'multinic1');
    await untilConfigIsReady(world, worker);
  }
  await after.disposeAsync();
  for (const worker of pair) await untilConfigured(world, worker, 'multinic0');
  await untilConfigIsReady(world, one);
  expect(await standingsOf(world, pair)).toEqual(before);
}

function standingsOf(world: World, workers: readonly Worker[]): Promise<Standing[]> {
  return Promise.all(workers.map((worker) => standingOf(world, worker)));
}
