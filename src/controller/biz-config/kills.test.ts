import { beforeAll, expect, it } from 'vitest';
import { BizSources, bizNode, conditionsOf, statesOf } from '../../../test/fixtures/biz-samples.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { type Effect, effects } from '../../api/effects.ts';

const phases = ['before', 'after'] as const;

/** Stops the controller once, at this effect, and starts another one when it has ended. */
function killAt(
  bed: ControllerFixture,
  effect: Effect,
  phase: (typeof phases)[number],
): () => boolean {
  let killed = false;
  let restarted = false;
  bed.onEffect = (name, when) => {
    if (killed || name !== effect || when !== phase) return;
    killed = true;
    throw new Error(`killed ${phase} ${effect}`);
  };
  const pass = bed.pass.bind(bed);
  bed.pass = async (steps) => {
    await pass(steps);
    if (!killed || restarted) return;
    restarted = true;
    await bed.stop();
    bed.run();
  };
  return () => restarted;
}

const held = 'RemovalHeld True RemovalHeld';
const allowed = { 'multinic.io/allow-removals': 'once' };
const numbers = [1, 2, 3, 4, 5, 6];
const list = (nics: readonly number[]) => numbers.map((n) => bizNode(n, nics));

/**
 * A source of six nodes beside an object with a forged label; an edit with consent that takes four nodes; an edit that takes a NIC
 * of each of the two others; and one without consent that would take both.
 */
async function live(bed: ControllerFixture): Promise<unknown> {
  const sources = new BizSources(bed);
  const labels = { 'multinic.io/biz-config': 'all' };
  await bed.apply(
    'foreign',
    { nodeName: 'foreign', instanceId: 'i-9', interfaces: [] },
    { labels },
  );
  await sources.create('all', list([1, 2]));
  bed.run();
  await sources.until('all', ({ status }) => status?.nodeStatuses?.length === 6);
  await sources.edit('all', list([1, 2]).slice(4), { annotations: allowed });
  await untilObjects(bed, 3);
  await sources.edit('all', list([2]).slice(4));
  for (const name of ['w-5', 'w-6']) {
    await bed.until(name, ({ spec }) => spec?.interfaces?.length === 1);
  }
  await sources.edit('all', []);
  const source = await sources.untilCondition('all', held);
  await bed.pass(60);
  return { objects: objects(bed), states: statesOf(source), conditions: conditionsOf(source) };
}

async function untilObjects(bed: ControllerFixture, count: number): Promise<void> {
  await bed.eventually(
    () => objects(bed).length === count,
    () => JSON.stringify(objects(bed)),
  );
}

/** Objects without what differs from life to life. */
function objects(bed: ControllerFixture) {
  return bed.api.objects('multinicnodeconfigs.multinic.io').map((object) => {
    const { metadata, spec } = object as typeof object & { readonly spec: unknown };
    const { name, labels, generation, deletionTimestamp } = metadata;
    return { name, labels, generation, deletionTimestamp, spec };
  });
}

let whole: unknown;

beforeAll(async () => {
  await using bed = await ControllerFixture.start();
  whole = await live(bed);
});

const points = effects
  .filter((effect) => effect.startsWith('controller.biz-config.'))
  .flatMap((effect) => phases.map((phase) => [effect, phase] as const));

it.each(points)('a controller killed at %s, %s, comes to the same end', async (effect, phase) => {
  await using bed = await ControllerFixture.start();
  const hasRestarted = killAt(bed, effect, phase);
  expect(await live(bed)).toEqual(whole);
  expect(hasRestarted()).toBe(true);
});
