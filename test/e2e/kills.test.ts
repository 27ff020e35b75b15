import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyConfig, attach, expectGone, untilConfigured } from './acts.ts';
import { foreignState, ourState } from './kernel-state.ts';
import { plantForeignState } from './planted.ts';
import { PrimaryMonitor } from './primary-monitor.ts';
import { created } from './seen.ts';
import { openWorld, type World } from './world.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

let world: World;
let monitor: PrimaryMonitor;
let foreign: Awaited<ReturnType<typeof foreignState>>;

beforeAll(async () => {
  world = await openWorld(say);
  await plantForeignState(world.node);
  foreign = await foreignState(world.node);
  monitor = new PrimaryMonitor(world.node);
  await monitor.started;
});

afterAll(async () => {
  await monitor?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

describe('a part that is killed in mid-change', () => {
  let clean: number;

  it('has a clean run to be compared with', async () => {
    await applyConfig(world, [world.server.id]);
    await attach(world);
    await untilConfigured(world, 'multinic0');
    clean = await cycle(async () => undefined);
    expect(clean).toBeGreaterThan(0);
  });

  it.each([
    ['operator', 'operator.node-config.post'],
    ['viola', 'viola.node-config.apply'],
    ['controller', 'controller.job.create'],
    ['controller', 'controller.status.write'],
  ])('%s at %s: same end, same number of objects', async (part, effect) => {
    const objects = await cycle(async () => {
      await world.parts.logged(part, `"effect":"${effect}"`);
      await world.parts.kill(part);
      await world.parts.restart(part);
    });
    expect(objects).toBe(clean);
    expect(await foreignState(world.node)).toEqual(foreign);
  });
});

describe('an agent that is killed in mid-change', () => {
  it('leaves a journal, from which one more attempt comes to the same end', async () => {
    const before = await ourState(world.node);
    const clean = await cycle(async () => undefined);
    const objects = await cycle(async () => {
      await world.node.sh(['timeout', '120', 'sh', '-ec', killInMidChange]);
    });
    expect(objects - clean).toBe(oneAttempt);
    expect(await ourState(world.node)).toEqual(before);
    expect(await foreignState(world.node)).toEqual(foreign);
  });
});

/** A Job and its ConfigMap. */
const oneAttempt = 2;

/**
 * Lets each agent go on in very small steps, so that none gets through unseen on a busy machine, and kills the one that
 * has written the journal of the second NIC.
 */
const killInMidChange = `
  while :; do
    until pid=$(pgrep -o -f 'app/[m]ain.mjs agent'); do :; done
    while kill -STOP $pid 2>/dev/null; do
      if [ -e /var/lib/multinic/journal/1.json ]; then kill -KILL $pid; exit; fi
      kill -CONT $pid 2>/dev/null || break
    done
  done`;

/** Attaches a port, waits until it is configured, detaches it; answers how many objects that created. */
async function cycle(meanwhile: () => Promise<void>): Promise<number> {
  const before = (await created(world)).length;
  const [attachment] = await Promise.all([attach(world), meanwhile()]);
  await untilConfigured(world, 'multinic0', 'multinic1');
  await world.tenant.detach(world.server.id, attachment.port_id);
  await untilConfigured(world, 'multinic0');
  await expectGone(world, 'multinic1');
  expect(monitor.events).toEqual([]);
  return (await created(world)).length - before;
}
