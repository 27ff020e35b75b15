import { expect, it } from 'vitest';
import { RolloutModel } from '../../../test/fixtures/rollout-model.ts';
import type { MultiNicNodeConfig } from '../../api/multinicnodeconfig.ts';
import { type ObservedRollout, rolloutsIn } from './rollouts.ts';

const size = 20;

/** Returns the rollouts over the objects of a controller. */
function observed({ configs }: RolloutModel): ObservedRollout[] {
  return rolloutsIn(configs as readonly MultiNicNodeConfig[]);
}

function countsOf({ step, total, generation, nodes }: ObservedRollout) {
  const states = Object.groupBy(nodes, ({ state }) => state);
  const counts = Object.entries(states).map(([state, list]) => [state, list.length] as const);
  return { step, total, generation, ...Object.fromEntries(counts) };
}

it('a rollout of a new generation passes first node, wave and rest, and then is no rollout', async () => {
  const model = new RolloutModel(size, 'agent:1');
  expect(observed(model)).toEqual([]);
  model.edit(2, 1400);
  const about = { total: size, generation: 2 };
  await model.round();
  expect(observed(model).map(countsOf)).toEqual([
    { ...about, step: 'wave', done: 1, running: 2, waiting: 17 },
  ]);
  await model.round();
  expect(observed(model).map(countsOf)).toEqual([{ ...about, step: 'rest', done: 3, running: 17 }]);
  for (let n = 0; n < 5; n++) await model.round();
  expect(observed(model)).toEqual([]);
});

it('a failed first node stops the rollout, and the waiting nodes carry the message', async () => {
  const model = new RolloutModel(size, 'agent:1');
  model.script = () => 'failed';
  model.edit(2, 1400);
  await model.round();
  const [rollout] = observed(model);
  expect(rollout && countsOf(rollout)).toMatchObject({ step: 'stopped', failed: 1, total: size });
  const waiting = rollout?.nodes.find(({ state }) => state !== 'failed');
  expect(waiting?.message).toContain('is stopped: node-');
});
