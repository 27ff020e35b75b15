import { afterEach, beforeEach, expect, it } from 'vitest';
import { ControllerFixture } from '../../test/fixtures/controller.ts';
import { entry } from '../../test/fixtures/controller-samples.ts';
import { failed, RolloutFixture } from '../../test/fixtures/rollout.ts';
import { configured } from '../../test/fixtures/scripted-agents.ts';
import { findCondition } from '../api/condition.ts';

const zone = 'topology.kubernetes.io/zone';
const count = 8;

let fixture: ControllerFixture;
let cluster: RolloutFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
  cluster = new RolloutFixture(fixture, count);
});

afterEach(async () => fixture[Symbol.asyncDispose]());

async function gauge(state: string): Promise<string | undefined> {
  const text = await fixture.metrics.registry.getSingleMetricAsString('multinic_rollout_nodes');
  return new RegExp(`state="${state}"} (\\d+)`).exec(text)?.[1];
}

const good = 'True AllInterfacesConfigured';

it('a failed canary stops the rollout across controller restarts, until a user continues', async () => {
  await cluster.create();
  await cluster.edit(2, 1400);
  let isBroken = true;
  fixture.agents.answer = (request) => (isBroken ? failed(request) : configured(request));
  fixture.run();
  await cluster.untilStopped(count - 1);
  const [canary = ''] = cluster.touched();
  expect(cluster.touched().size).toBe(1);
  expect(cluster.stoppedMessages()).toEqual([
    expect.stringContaining(`rollout to 8 nodes is stopped: ${canary} failed; `),
  ]);
  expect([await gauge('stopped'), await gauge('failed')]).toEqual(['7', '1']);
  await fixture.stop();
  fixture.run();
  await fixture.pass(20);
  expect(cluster.touched().size).toBe(1);
  const waiting = cluster.names.find((name) => name !== canary) ?? '';
  const { status } = await fixture.get(waiting);
  expect(findCondition(status?.conditions, 'Ready')).toMatchObject({
    status: 'Unknown',
    reason: 'RolloutWaiting',
  });
  expect(findCondition(status?.conditions, 'Stalled')?.status).toBe('True');
  isBroken = false;
  await cluster.annotate(waiting, { 'multinic.io/rollout-continue': 'now' });
  for (const name of cluster.names) await fixture.untilReady(name, good);
  expect((await fixture.get(waiting)).status?.rolloutContinued?.value).toBe('now');
  expect(cluster.having('RolloutStopped')).toBe(0);
  expect(await gauge('stopped')).toBe('0');
});

it('a canary with a silent kubelet stops the rollout when its Job passes the deadline', async () => {
  await cluster.create();
  await cluster.edit(2, 1400);
  fixture.agents.answer = ({ nodeName }) => {
    fixture.agents.dead.add(nodeName);
    return undefined;
  };
  fixture.run();
  await fixture.eventually(
    () => cluster.touched().size === 1,
    () => 'no canary',
  );
  const [canary = ''] = cluster.touched();
  await fixture.setReady(canary, 'Unknown');
  for (let minutes = 0; minutes < 12; minutes++) {
    await fixture.clock.advance(60_000);
    await fixture.pass(2);
  }
  await cluster.untilStopped(count - 1);
  expect(cluster.stoppedMessages()).toEqual([expect.stringContaining(`: ${canary} failed; `)]);
  fixture.agents.answer = configured;
  const waiting = cluster.names.find((name) => name !== canary) ?? '';
  await cluster.annotate(waiting, { 'multinic.io/rollout-continue': 'now' });
  for (const name of cluster.names) if (name !== canary) await fixture.untilReady(name, good);
});

it('a port is attached to all nodes at once when the source is unchanged', async () => {
  await cluster.create();
  fixture.run();
  await cluster.edit(1, 1450);
  for (const name of cluster.names) await fixture.untilReady(name, good);
  expect((await fixture.get('node-0001')).status?.applied).toMatchObject({
    revision: expect.stringMatching(/^source-1\/1\/[0-9a-f]{12}$/) as string,
  });
  fixture.agents.requests.length = 0;
  fixture.agents.answer = () => undefined;
  await cluster.attach(1, 1450);
  await fixture.eventually(
    () => cluster.touched().size === count,
    () => `${cluster.touched().size} nodes have an agent`,
  );
});

it('with a rollout domain, nodes in two zones never change at once', async () => {
  await cluster.create((n) => ({ [zone]: n % 2 === 0 ? 'a' : 'b' }));
  await cluster.edit(2, 1400);
  const mixed: string[][] = [];
  const inZone = (name: string) => cluster.names.indexOf(name) % 2;
  fixture.agents.answer = (request) => {
    const busy = fixture.pods().flatMap(({ spec, status }) => {
      return status?.phase === 'Succeeded' ? [] : (spec?.nodeName ?? []);
    });
    if (new Set(busy.map(inZone)).size > 1) mixed.push(busy);
    return configured(request);
  };
  fixture.run({ 'rollout-domain': zone });
  for (const name of cluster.names) await fixture.untilReady(name, good);
  expect(mixed).toEqual([]);
});

it.each([
  ['true', 'is true'],
  ['ture', 'is "ture", which is neither true nor false'],
])(
  'a node paused by %s gets no apply and no check until unpaused, and is still cleaned on deletion',
  async (value, text) => {
    await fixture.addNode('worker-1');
    fixture.run();
    const paused = { annotations: { 'multinic.io/paused': value } };
    await fixture.apply('worker-1', { interfaces: [entry(0)] }, paused);
    await fixture.untilReady('worker-1', 'Unknown Paused');
    const { status } = await fixture.get('worker-1');
    expect(findCondition(status?.conditions, 'Paused')?.message).toContain(text);
    expect(fixture.created('jobs')).toBe(0);
    await cluster.annotate('worker-1', { 'multinic.io/paused': 'False' });
    const ready = await fixture.untilReady('worker-1', good);
    expect(findCondition(ready.status?.conditions, 'Paused')).toBeUndefined();
    await cluster.annotate('worker-1', { 'multinic.io/paused': value, 'multinic.io/check': 'now' });
    await fixture.pass(20);
    expect(fixture.created('jobs')).toBe(1);
    await fixture.delete('worker-1');
    await fixture.untilGone('worker-1');
    expect(fixture.agents.requests.map(({ action }) => action)).toEqual(['apply', 'cleanup']);
  },
);
