import { describe, expect, it } from 'vitest';
import { RolloutModel, type Script } from '../../../test/fixtures/rollout-model.ts';
import { rotated } from '../../../test/rotation.ts';
import type { Run } from '../jobs/runner.ts';

/** Size of the cluster; the suite soak sets 1,000. */
const nodes = Number(process.env['MULTINIC_ROLLOUT_NODES'] ?? 100);
const canaryAndWave = 1 + Math.ceil(nodes / 10);
const failedOfTwenty = Math.floor(nodes / 20);

/** Fails every n-th first attempt; `isRepaired`: later attempts succeed. */
function everyNth(n: number, isRepaired = true): Script {
  let jobs = 0;
  const failing = new Set<string>();
  return ({ node, attempt }: Run) => {
    if (attempt > 1) return !isRepaired && failing.has(node) ? 'failed' : 'ok';
    jobs += 1;
    if (jobs % n !== 0) return 'ok';
    failing.add(node);
    return 'failed';
  };
}

/** A configured cluster at the start of a rollout. */
function clusterWith(change: 'generation' | 'image'): RolloutModel {
  const model = new RolloutModel(nodes, 'agent:1');
  if (change === 'image') {
    model.image = 'agent:2';
    model.kill();
  }
  model.edit(change === 'image' ? 1 : 2, 1400);
  return model;
}

interface Case {
  readonly change: 'generation' | 'image';
  readonly killed: boolean;
}

const cases: readonly Case[] = [
  { change: 'generation', killed: false },
  { change: 'generation', killed: true },
  { change: 'image', killed: true },
];

const nameOf = ({ change, killed }: Case) => `${change}${killed ? ', controller killed' : ''}`;

async function rounds(model: RolloutModel, { killed }: Case, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    await model.round();
    // Kill the controller in each step; a restarted controller visits all objects.
    if (killed && (n < 5 || n % 10 === 0)) model.kill();
  }
}

describe.each(rotated('rollouts', cases, 3, nameOf))(
  `${nodes} nodes, failing $change, controller killed: $killed`,
  (one) => {
    it.each<[string, Script]>([
      ['the canary fails', () => 'failed'],
      ['the agent of the canary is silent', () => undefined],
    ])('only the canary is touched when %s', async (_when, script) => {
      const model = clusterWith(one.change);
      model.script = script;
      await rounds(model, one, 5);
      expect(model.touched.size).toBe(1);
      expect(model.showing('RolloutStopped')).toHaveLength(nodes - 1);
      expect(model.message('RolloutStopped')).toContain(`: ${[...model.touched][0]} failed; `);
    });

    it('a rollout with every fifth Job failing stops within canary and wave, until a user continues', async () => {
      const model = clusterWith(one.change);
      model.script = everyNth(5, false);
      await rounds(model, one, 12);
      const before = model.touched.size;
      expect(before).toBeGreaterThan(1);
      expect(before).toBeLessThanOrEqual(canaryAndWave);
      const [first] = model.showing('RolloutStopped');
      if (!first) throw new Error('the rollout goes on');
      model.script = ({ attempt }) => (attempt > 1 ? 'failed' : 'ok');
      model.annotate(first.metadata.name, { 'multinic.io/rollout-continue': 'go on' });
      await rounds(model, one, 40);
      expect(model.touched.size).toBe(nodes);
      expect(model.showing('RolloutStopped')).toEqual([]);
    });

    it('a rollout with every twentieth Job failing touches all nodes and records the failed nodes', async () => {
      const model = clusterWith(one.change);
      model.script = everyNth(20, false);
      await rounds(model, one, 40);
      expect(model.touched.size).toBe(nodes);
      expect(model.phases()).toEqual({ done: nodes - failedOfTwenty, failed: failedOfTwenty });
      expect(model.showing('RolloutStopped')).toEqual([]);
    });
  },
);
