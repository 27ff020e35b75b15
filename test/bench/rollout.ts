// Time that the rollout budget takes of a first install and of an attach, beside a budget that holds nothing: the same nodes, the
// same embedded API server and agents, all in this process. Time is that of the clock of the tests. Then how long a rollout of
// as many nodes takes to stop: from the result that decides it until every waiting object shows it.

import { createRollout } from '../../src/controller/scheduling/rollout-budget.ts';
import type { CreateRollout } from '../../src/controller/scheduling/scheduling.ts';
import { ControllerFixture } from '../fixtures/controller.ts';
import { entry } from '../fixtures/controller-samples.ts';
import { failed, RolloutFixture } from '../fixtures/rollout.ts';
import { configured } from '../fixtures/scripted-agents.ts';
import { Figures } from './figures.ts';

const nodes = Number(process.env['BENCH_NODES'] ?? 1000);
/** How often an agent is asked before it has ended: a second of the clock of the tests. */
const turnsAtWork = 10;
const attaches = 10;

const holdsNothing: CreateRollout = (options) => ({
  ...createRollout(options),
  isImageProven: () => true,
  request: () => ({ granted: true, release: () => undefined, reserve: () => undefined }),
});

interface Times {
  readonly installMs: number;
  readonly attachMs: number;
}

async function timesOf(rollout: CreateRollout, count: number): Promise<Times> {
  await using bed = await ControllerFixture.start();
  bed.createRollout = rollout;
  const asked = new Map<string, number>();
  bed.agents.answer = (request) => {
    const key = `${request.nodeName} ${request.generation}`;
    const times = (asked.get(key) ?? 0) + 1;
    asked.set(key, times);
    return times > turnsAtWork ? configured(request) : undefined;
  };
  const cluster = new RolloutFixture(bed, count);
  await cluster.createBare();
  const since = (start: number): number => bed.clock.monotonicMs() - start;
  const start = bed.clock.monotonicMs();
  bed.run();
  while (cluster.ready() < count) await bed.pass(1);
  const installMs = since(start);
  const attach = bed.clock.monotonicMs();
  for (const name of cluster.names.slice(0, attaches)) {
    await cluster.write(name, 1, [entry(0), entry(1)]);
    await bed.untilReady(name, 'True AllInterfacesConfigured');
  }
  return { installMs, attachMs: since(attach) / attaches };
}

/** Milliseconds of this machine from the failure of the canary until every other object shows that the rollout is stopped. */
async function stopMs(): Promise<number> {
  await using bed = await ControllerFixture.start();
  const cluster = new RolloutFixture(bed, nodes);
  await cluster.create();
  await cluster.edit(2, 1400);
  let isBroken = false;
  bed.agents.answer = (request) => (isBroken ? failed(request) : undefined);
  bed.run();
  const waiting = (reason: string) => cluster.showing(reason) === nodes - 1;
  while (!waiting('RolloutWaiting')) await bed.pass(1);
  isBroken = true;
  const start = performance.now();
  while (cluster.having('RolloutStopped') < nodes - 1) await bed.pass(1);
  return performance.now() - start;
}

const figures = new Figures();
await timesOf(createRollout, 20); // compiles the code
const floor = await timesOf(holdsNothing, nodes);
const budget = await timesOf(createRollout, nodes);
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
figures.note(`first install of ${nodes} nodes, rollout budget off`, seconds(floor.installMs));
figures.goal('… with the rollout budget', budget.installMs / floor.installMs, 1.05, 'times');
figures.note('attach of a port, rollout budget off', seconds(floor.attachMs));
figures.goal('… with the rollout budget', budget.attachMs / floor.attachMs, 1.05, 'times');
figures.goal(
  `rollout of ${nodes} nodes: from the failed canary until every waiting object shows the stop`,
  (await stopMs()) / 1000,
  5,
  's',
);
figures.end();
