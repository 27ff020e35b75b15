import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../test/fixtures/controller.ts';
import { entry } from '../../test/fixtures/controller-samples.ts';
import { failed, RolloutFixture } from '../../test/fixtures/rollout.ts';
import { findCondition } from '../api/condition.ts';
import type { JobRequest } from '../api/job.ts';

const count = 12;
const good = 'True AllInterfacesConfigured';

let fixture: ControllerFixture;
let cluster: RolloutFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
  cluster = new RolloutFixture(fixture, count);
});

afterEach(async () => fixture[Symbol.asyncDispose]());

/** An impossible MTU. */
const bad = 9000;

const hasMtu = ({ interfaces }: JobRequest, mtu: number): boolean =>
  interfaces.some((nic) => nic.mtu === mtu);

/** Nodes with an agent request for this MTU. */
function given(mtu: number): ReadonlySet<string> {
  const requests = fixture.agents.requests.filter((request) => hasMtu(request, mtu));
  return new Set(requests.map(({ nodeName }) => nodeName));
}

/** Configures all nodes; nodes in `broken` and the MTU 9000 fail from then on. */
async function configureAll(broken: ReadonlySet<string> = new Set()): Promise<void> {
  await cluster.createBare();
  fixture.run();
  for (const name of cluster.names) await fixture.untilReady(name, good);
  fixture.agents.answer = (request) =>
    broken.has(request.nodeName) || hasMtu(request, bad)
      ? failed(request)
      : fixture.agents.run(request);
}

async function untilEach(wanted: string): Promise<void> {
  for (const name of cluster.names) await fixture.untilReady(name, wanted);
}

const statusOf = async (name: string) => (await fixture.get(name)).status;

describe.each([
  ['an OpenstackConfig', true],
  ['no source', false],
])('objects with %s', (_source, hasSource) => {
  it('a bad network MTU stops after the first node, 100 attaches go on, and the former MTU ends the stop', async () => {
    // 25 nodes wait, and each gets 4 ports.
    const [nodes, ports] = [26, 4];
    cluster = new RolloutFixture(fixture, nodes);
    cluster.hasSource = hasSource;
    await configureAll();
    await cluster.edit(1, bad);
    await cluster.untilStopped(nodes - 1);
    expect(given(bad).size).toBe(1);
    const [canary = ''] = given(bad);
    const waiting = cluster.names.filter((name) => name !== canary);
    const before = (await statusOf(waiting[0] ?? ''))?.interfaceStatuses;
    expect(before).toMatchObject([{ status: 'Configured', mtu: 1450 }]);
    // Restarted in between: the decision is from the statuses.
    await fixture.stop();
    fixture.run();
    await cluster.attach(1, bad, ports);
    const attached = (name: string) => fixture.agents.macsOn(name).length === 1 + ports;
    await fixture.eventually(
      () => waiting.every(attached),
      () => `${waiting.filter(attached).length} of ${waiting.length} ports are attached`,
    );
    await cluster.untilStopped(nodes - 1);
    expect(given(bad).size).toBe(1);
    const [kept, ...added] = (await statusOf(waiting[0] ?? ''))?.interfaceStatuses ?? [];
    expect(kept).toEqual(before?.[0]);
    expect(added.map(({ status }) => status)).toEqual(Array(ports).fill('Configured'));
    // Neither a check nor a request to heal changes waiting NICs.
    for (const name of waiting) await cluster.annotate(name, { 'multinic.io/heal': 'now' });
    await fixture.pass(30);
    expect(given(bad).size).toBe(1);
    fixture.agents.requests.length = 0;
    await cluster.attach(1, 1450, ports);
    await untilEach(good);
    expect(cluster.having('RolloutStopped')).toBe(0);
    expect(given(bad).size).toBe(0);
  });
});

it('a good network MTU is applied to the first node, to 10 %, and to the rest', async () => {
  await configureAll();
  let most = 0;
  const ended = new Set<string>();
  fixture.agents.answer = (request) => {
    const atWork = [...given(1400)].filter((name) => !ended.has(name)).length;
    if (ended.size === 0) expect(atWork).toBeLessThanOrEqual(1);
    else if (ended.size < 3) expect(given(1400).size).toBeLessThanOrEqual(3);
    most = Math.max(most, atWork);
    if (!given(1400).has(request.nodeName)) return undefined;
    ended.add(request.nodeName);
    return fixture.agents.run(request);
  };
  await cluster.edit(1, 1400);
  await untilEach(good);
  expect(given(1400).size).toBe(count);
  expect(most).toBeGreaterThan(2);
  const { applied } = (await statusOf(cluster.names[0] ?? '')) ?? {};
  expect(applied?.revision).toMatch(/^source-1\/1\/[0-9a-f]{12}~[0-9a-f]{8}$/);
  expect(applied?.rollout).toBe('done');
});

it('a failed node is changed last, and a further failure stops nothing', async () => {
  const broken = new Set(cluster.names.slice(0, 2));
  await configureAll(broken);
  for (const name of broken) {
    await cluster.write(name, 1, [entry(0), entry(1)]);
    await fixture.untilReady(name, 'False ApplyFailed');
  }
  fixture.agents.requests.length = 0;
  const order: string[] = [];
  const { answer } = fixture.agents;
  fixture.agents.answer = (request) => {
    if (hasMtu(request, 1400)) order.push(request.nodeName);
    return answer(request);
  };
  await cluster.edit(1, 1400);
  const sound = cluster.names.filter((name) => !broken.has(name));
  for (const name of sound) await fixture.untilReady(name, good);
  for (const name of broken) await fixture.untilReady(name, 'False ApplyFailed');
  await fixture.eventually(
    () => [...broken].every((name) => order.includes(name)),
    () => `changed: ${order.join(', ')}`,
  );
  expect(order.slice(0, sound.length).toSorted()).toEqual(sound);
  expect(cluster.having('RolloutStopped')).toBe(0);
  const { applied } = (await statusOf(cluster.names[0] ?? '')) ?? {};
  expect(applied).toMatchObject({ rollout: 'failed', failedBefore: true });
});

it('paused nodes and NotReady nodes delay no failed node', async () => {
  const [broken = '', paused = '', absent = ''] = cluster.names;
  await configureAll(new Set([broken]));
  await cluster.write(broken, 1, [entry(0), entry(1)]);
  await fixture.untilReady(broken, 'False ApplyFailed');
  await cluster.annotate(paused, { 'multinic.io/paused': 'true' });
  await fixture.setReady(absent, 'False');
  await cluster.edit(1, 1400);
  await fixture.eventually(
    () => given(1400).has(broken),
    () => `changed: ${[...given(1400)].join(', ')}`,
  );
  expect(given(1400).size).toBe(count - 2);
});

it('a waiting node shows the failed node, and loses a deleted port', async () => {
  await configureAll();
  await cluster.attach(1, 1450);
  await untilEach(good);
  await cluster.edit(1, bad);
  await cluster.untilStopped(count - 1);
  const [canary = ''] = given(bad);
  const name = cluster.names.findLast((one) => one !== canary) ?? '';
  const { status } = await fixture.untilReady(name, 'Unknown RolloutWaiting');
  expect(findCondition(status?.conditions, 'Stalled')?.message).toContain(`${canary} failed`);
  await cluster.annotate(name, { 'multinic.io/allow-removals': 'now' });
  await fixture.eventually(
    () => fixture.agents.macsOn(name).length === 1,
    () => `${name} has ${fixture.agents.macsOn(name).join(', ')}`,
  );
  expect(given(bad).size).toBe(1);
});
