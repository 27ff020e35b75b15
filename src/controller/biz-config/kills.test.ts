import { beforeAll, expect, it } from 'vitest';
import { BizSources, bizNode, conditionsOf, statesOf } from '../../../test/fixtures/biz-samples.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { type Effect, effects } from '../../api/effects.ts';

const phases = ['before', 'after'] as const;

/** Kills the controller once at this effect and restarts it. */
function killAt(
  fixture: ControllerFixture,
  effect: Effect,
  phase: (typeof phases)[number],
): () => boolean {
  let killed = false;
  let restarted = false;
  fixture.onEffect = (name, when) => {
    if (killed || name !== effect || when !== phase) return;
    killed = true;
    throw new Error(`killed ${phase} ${effect}`);
  };
  const pass = fixture.pass.bind(fixture);
  fixture.pass = async (steps) => {
    await pass(steps);
    if (!killed || restarted) return;
    restarted = true;
    await fixture.stop();
    fixture.run();
  };
  return () => restarted;
}

const held = 'RemovalHeld True RemovalHeld';
const allowed = { 'multinic.io/allow-removals': 'once' };
const numbers = [1, 2, 3, 4, 5, 6];
const list = (nics: readonly number[]) => numbers.map((n) => bizNode(n, nics));

/**
 * Runs a scenario: a source with six nodes next to a foreign object with a forged label. One edit with consent removes
 * four nodes, another removes a NIC from both remaining nodes, and a last edit without consent would remove both.
 */
async function live(fixture: ControllerFixture): Promise<unknown> {
  const sources = new BizSources(fixture);
  const labels = { 'multinic.io/biz-config': 'all' };
  await fixture.apply(
    'foreign',
    { nodeName: 'foreign', instanceId: 'i-9', interfaces: [] },
    { labels },
  );
  await sources.create('all', list([1, 2]));
  fixture.run();
  await sources.until('all', ({ status }) => status?.nodeStatuses?.length === 6);
  await sources.edit('all', list([1, 2]).slice(4), { annotations: allowed });
  await untilObjects(fixture, 3);
  await sources.edit('all', list([2]).slice(4));
  for (const name of ['w-5', 'w-6']) {
    await fixture.until(name, ({ spec }) => spec?.interfaces?.length === 1);
  }
  await sources.edit('all', []);
  const source = await sources.untilCondition('all', held);
  await fixture.pass(60);
  return { objects: objects(fixture), states: statesOf(source), conditions: conditionsOf(source) };
}

async function untilObjects(fixture: ControllerFixture, count: number): Promise<void> {
  await fixture.eventually(
    () => objects(fixture).length === count,
    () => JSON.stringify(objects(fixture)),
  );
}

/** Returns objects without run-specific fields. */
function objects(fixture: ControllerFixture) {
  return fixture.api.objects('multinicnodeconfigs.multinic.io').map((object) => {
    const { metadata, spec } = object as typeof object & { readonly spec: unknown };
    const { name, labels, generation, deletionTimestamp } = metadata;
    return { name, labels, generation, deletionTimestamp, spec };
  });
}

let whole: unknown;

beforeAll(async () => {
  await using fixture = await ControllerFixture.start();
  whole = await live(fixture);
});

const points = effects
  .filter((effect) => effect.startsWith('controller.biz-config.'))
  .flatMap((effect) => phases.map((phase) => [effect, phase] as const));

it.each(points)(
  'a controller killed at %s, %s, reaches the same end state',
  async (effect, phase) => {
    await using fixture = await ControllerFixture.start();
    const hasRestarted = killAt(fixture, effect, phase);
    expect(await live(fixture)).toEqual(whole);
    expect(hasRestarted()).toBe(true);
  },
);
