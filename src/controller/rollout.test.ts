import { afterEach, beforeEach, expect, it } from 'vitest';
import { ControllerFixture } from '../../test/fixtures/controller.ts';
import { entry } from '../../test/fixtures/controller-samples.ts';
import { failed, RolloutFixture } from '../../test/fixtures/rollout.ts';
import { configured } from '../../test/fixtures/scripted-agents.ts';
import { findCondition } from '../api/condition.ts';

const zone = 'topology.kubernetes.io/zone';
const count = 8;

let bed: ControllerFixture;
let cluster: RolloutFixture;

beforeEach(async () => {
  bed = await ControllerFixture.start();
  cluster = new RolloutFixture(bed, count);
});

afterEach(async () => bed[Symbol.asyncDispose]());

async function gauge(state: string): Promise<string | undefined> {
  const text = await bed.metrics.registry.getSingleMetricAsString('multinic_rollout_nodes');
  return new RegExp(`state="${state}"} (\\d+)`).exec(text)?.[1];
}

const good = 'True AllInterfacesConfigured';

it('a failed canary stops the rollout for every controller, until a user continues', async () => {
  await cluster.create();
  await cluster.edit(2, 1400);
  let isBroken = true;
  bed.agents.answer = (request) => (isBroken ? failed(request) : configured(request));
  bed.run();
  await cluster.untilStopped(count - 1);
  const [canary = ''] = cluster.touched();
  expect(cluster.touched().size).toBe(1);
  expect(cluster.stoppedMessages()).toEqual([
    expect.stringContaining(`rollout to 8 nodes is stopped: ${canary} failed; `),
  ]);
  expect([await gauge('stopped'), await gauge('failed')]).toEqual(['7', '1']);
  await bed.stop();
  bed.run();
  await bed.pass(20);
  expect(cluster.touched().size).toBe(1);
  const waiting = cluster.names.find((name) => name !== canary) ?? '';
  const { status } = await bed.get(waiting);
  expect(findCondition(status?.conditions, 'Ready')).toMatchObject({
    status: 'Unknown',
    reason: 'RolloutWaiting',
  });
  expect(findCondition(status?.conditions, 'Stalled')?.status).toBe('True');
  isBroken = false;
  await cluster.annotate(waiting, { 'multinic.io/rollout-continue': 'now' });
  for (const name of cluster.names) await bed.untilReady(name, good);
  expect((await bed.get(waiting)).status?.rolloutContinued?.value).toBe('now');
  expect(cluster.having('RolloutStopped')).toBe(0);
  expect(await gauge('stopped')).toBe('0');
});

it('a canary whose kubelet falls silent stops the rollout when its Job is over the deadline', async () => {
  await cluster.create();
  await cluster.edit(2, 1400);
  bed.agents.answer = ({ nodeName }) => {
    bed.agents.dead.add(nodeName);
    return undefined;
  };
  bed.run();
  await bed.eventually(
    () => cluster.touched().size === 1,
    () => 'no canary',
  );
  const [canary = ''] = cluster.touched();
  await bed.setReady(canary, 'Unknown');
  for (let minutes = 0; minutes < 12; minutes++) {
    await bed.clock.advance(60_000);
    await bed.pass(2);
  }
  await cluster.untilStopped(count - 1);
  expect(cluster.stoppedMessages()).toEqual([expect.stringContaining(`: ${canary} failed; `)]);
  bed.agents.answer = configured;
  const waiting = cluster.names.find((name) => name !== canary) ?? '';
  await cluster.annotate(waiting, { 'multinic.io/rollout-continue': 'now' });
  for (const name of cluster.names) if (name !== canary) await bed.untilReady(name, good);
});

it('a port is attached to every node at once when the source has not changed', async () => {
  await cluster.create();
  bed.run();
  await cluster.edit(1, 1450);
  for (const name of cluster.names) await bed.untilReady(name, good);
  expect((await bed.get('node-0001')).status?.applied).toMatchObject({
    revision: expect.stringMatching(/^source-1\/1\/[0-9a-f]{12}$/) as string,
  });
  bed.agents.requests.length = 0;
  bed.agents.answer = () => undefined;
  await cluster.edit(1, 1400);
  await bed.eventually(
    () => cluster.touched().size === count,
    () => `${cluster.touched().size} nodes have an agent`,
  );
});

it('nodes of two zones never change at once', async () => {
  await cluster.create((n) => ({ [zone]: n % 2 === 0 ? 'a' : 'b' }));
  await cluster.edit(2, 1400);
  const mixed: string[][] = [];
  const inZone = (name: string) => cluster.names.indexOf(name) % 2;
  bed.agents.answer = (request) => {
    const busy = bed.pods().flatMap(({ spec, status }) => {
      return status?.phase === 'Succeeded' ? [] : (spec?.nodeName ?? []);
    });
    if (new Set(busy.map(inZone)).size > 1) mixed.push(busy);
    return configured(request);
  };
  bed.run({ 'rollout-domain': zone });
  for (const name of cluster.names) await bed.untilReady(name, good);
  expect(mixed).toEqual([]);
});

it.each([
  ['true', 'is true'],
  ['ture', 'is "ture", which is neither true nor false'],
])(
  'no agent and no check goes to a node that is paused by %s, until it is not',
  async (value, text) => {
    await bed.addNode('worker-1');
    bed.run();
    const paused = { annotations: { 'multinic.io/paused': value } };
    await bed.apply('worker-1', { interfaces: [entry(0)] }, paused);
    await bed.untilReady('worker-1', 'Unknown Paused');
    const { status } = await bed.get('worker-1');
    expect(findCondition(status?.conditions, 'Paused')?.message).toContain(text);
    expect(bed.created('jobs')).toBe(0);
    await cluster.annotate('worker-1', { 'multinic.io/paused': 'False' });
    const ready = await bed.untilReady('worker-1', good);
    expect(findCondition(ready.status?.conditions, 'Paused')).toBeUndefined();
    await cluster.annotate('worker-1', { 'multinic.io/paused': value, 'multinic.io/check': 'now' });
    await bed.pass(20);
    expect(bed.created('jobs')).toBe(1);
    await bed.delete('worker-1');
    await bed.untilGone('worker-1');
    expect(bed.agents.requests.map(({ action }) => action)).toEqual(['apply', 'cleanup']);
  },
);
