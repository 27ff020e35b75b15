import { hash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../test/fixtures/controller.ts';
import { entry, nicResult } from '../../test/fixtures/controller-samples.ts';
import { failed, RolloutFixture } from '../../test/fixtures/rollout.ts';
import { type Answer, configured } from '../../test/fixtures/scripted-agents.ts';
import { findCondition } from '../api/condition.ts';
import type { JobRequest, JobResult } from '../api/job.ts';
import { nodeConfigs } from './objects/stores.ts';

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

const hasThirdNic = ({ interfaces }: JobRequest): boolean =>
  interfaces.some(({ index }) => index === 2);

const hasFirstNic = ({ interfaces }: JobRequest): boolean =>
  interfaces.some(({ index }) => index === 0);

/** Nodes with an agent request for this MTU. */
function given(mtu: number): ReadonlySet<string> {
  const requests = fixture.agents.requests.filter((request) => hasMtu(request, mtu));
  return new Set(requests.map(({ nodeName }) => nodeName));
}

/** Configures all nodes; the first NIC of nodes in `broken` and the MTU 9000 fail from then on. */
async function configureAll(broken: ReadonlySet<string> = new Set()): Promise<void> {
  await cluster.createBare();
  fixture.run();
  for (const name of cluster.names) await fixture.untilReady(name, good);
  fixture.agents.answer = (request) =>
    (broken.has(request.nodeName) && hasFirstNic(request)) || hasMtu(request, bad)
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
  expect(applied?.revision).toMatch(/^source-1\/1\/[0-9a-f]{12}$/);
  expect(applied?.settings).toMatchObject([{ key: '10.0.0.0/24', rollout: 'done' }]);
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
  expect(applied?.settings).toMatchObject([{ rollout: 'failed', failedBefore: true }]);
});

it.each<[string, (canary: string) => Promise<void>]>([
  [
    'is detached from the first node',
    async (canary) => {
      await cluster.annotate(canary, { 'multinic.io/allow-removals': 'now' });
      await cluster.write(canary, 1, [entry(1)]);
      await fixture.untilReady(canary, good);
    },
  ],
  [
    'waits on the first node for a second edit, which is undone',
    async (canary) => {
      const { answer } = fixture.agents;
      fixture.agents.answer = (request) => (hasMtu(request, 1400) ? undefined : answer(request));
      await cluster.attach(1, 1400);
      await fixture.untilReady(canary, 'Unknown RolloutWaiting');
      await fixture.pass(30);
      fixture.agents.answer = answer;
      await cluster.attach(1, bad);
    },
  ],
])('a bad MTU does not spread when its NIC %s', async (_how, act) => {
  cluster = new RolloutFixture(fixture, 8);
  await configureAll();
  await cluster.attach(1, 1450);
  await untilEach(good);
  await cluster.attach(1, bad);
  await cluster.untilStopped(7);
  const [canary = ''] = given(bad);
  await act(canary);
  await fixture.pass(100);
  expect(cluster.having('RolloutStopped')).toBeGreaterThan(5);
  expect(given(bad).size).toBeLessThanOrEqual(2);
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

/** Configures two NICs per node, and stops the MTU 9000 of the first network; returns its first node. */
async function stopFirstNetwork(): Promise<string> {
  await configureAll();
  fixture.agents.answer = failingAlone;
  await cluster.attach(1, 1450);
  await untilEach(good);
  await writeAll(bad, 1450);
  await cluster.untilStopped(count - 1);
  return [...given(bad)].join();
}

/** Answers as an agent in which only the NICs with MTU 9000 fail. */
function failingAlone(request: JobRequest): Answer {
  const failing = { ...request, interfaces: request.interfaces.filter(({ mtu }) => mtu === bad) };
  if (failing.interfaces.length === 0) return fixture.agents.run(request);
  const rest = request.interfaces.filter(({ mtu }) => mtu !== bad);
  const nics = rest.map(({ index, mac }) => nicResult(index, { mac }));
  return {
    outcome: 'partial',
    nics: [...((failed(failing) as Partial<JobResult>).nics ?? []), ...nics],
  };
}

/** Writes all objects with these MTUs of the networks. */
async function writeAll(...mtus: readonly number[]): Promise<void> {
  const nics = mtus.map((mtu, at) => entry(at, { mtu }));
  for (const name of cluster.names) await cluster.write(name, 1, nics);
}

it('a good MTU reaches all nodes in steps while the bad MTU of another network is stopped', async () => {
  const canary = await stopFirstNetwork();
  const waiting = cluster.names.filter((name) => name !== canary);
  const order: string[] = [];
  fixture.agents.answer = (request) => {
    if (hasMtu(request, 1400)) order.push(request.nodeName);
    return failingAlone(request);
  };
  for (const mtu of [1400, 1420, 1440]) {
    await writeAll(bad, mtu);
    await fixture.eventually(
      () => given(mtu).size === count,
      () => `MTU ${mtu} is on ${[...given(mtu)].join(', ')}`,
    );
    await cluster.untilStopped(count - 1);
  }
  expect([...given(bad)]).toEqual([canary]);
  expect(order.at(-1)).toBe(canary);
  expect(cluster.stoppedMessages()).toEqual([
    expect.stringMatching(
      `^rollout of subnet 10.0.0.0/24 to ${count} nodes is stopped: ${canary} failed; `,
    ),
  ]);
  await writeAll(1450, 1440);
  for (const name of [...waiting, canary]) await fixture.untilReady(name, good);
});

it('a port is attached with the former MTU after an upgrade of the agent image', async () => {
  const canary = await stopFirstNetwork();
  await fixture.stop();
  fixture.run({ 'agent-image': 'agent:next' });
  const nics = [entry(0, { mtu: bad }), entry(1), entry(2)];
  for (const name of cluster.names) await cluster.write(name, 1, nics);
  const hasPort = (name: string) => fixture.agents.macsOn(name).includes(entry(2).macAddress);
  const waiting = cluster.names.filter((name) => name !== canary);
  await fixture.eventually(
    () => waiting.every(hasPort),
    () => `${waiting.filter(hasPort).length} nodes have the port`,
  );
  await cluster.untilStopped(count - 1);
  expect([...given(bad)]).toEqual([canary]);
});

it('a rollout that the earlier version stopped stays stopped, and an upgrade starts no agent', async () => {
  await configureAll();
  await cluster.edit(1, bad);
  await cluster.untilStopped(count - 1);
  await fixture.stop();
  const [canary = ''] = given(bad);
  const { applied } = (await statusOf(canary)) ?? {};
  const [{ key = '', value = '' } = {}] = applied?.settings ?? [];
  const change = hash('sha256', `${key}:${value}`).slice(0, 8);
  const former = { settings: null, rollout: 'failed', revision: `${applied?.revision}~${change}` };
  const ref = { namespace: 'multinic-system', name: canary };
  await fixture.admin.patchStatus(nodeConfigs, ref, { status: { applied: former } });
  fixture.agents.requests.length = 0;
  fixture.run();
  await fixture.pass(60);
  await cluster.untilStopped(count - 1);
  expect([...cluster.touched()].filter((name) => name !== canary)).toEqual([]);
});

it('RolloutStopped stays while a port is attached', async () => {
  const canary = await stopFirstNetwork();
  const name = cluster.names.find((one) => one !== canary) ?? '';
  fixture.agents.answer = () => undefined;
  await cluster.write(name, 1, [entry(0, { mtu: bad }), entry(1), entry(2)]);
  await fixture.eventually(
    () => {
      expect(cluster.having('RolloutStopped')).toBe(count - 1);
      return fixture.agents.requests.some(hasThirdNic);
    },
    () => `no agent attaches the port on ${name}`,
  );
  for (let step = 0; step < 20; step++) {
    await fixture.pass(1);
    expect(cluster.having('RolloutStopped')).toBe(count - 1);
  }
});

it('a former MTU starts with one node although a paused node has it', async () => {
  const [paused = '', ...others] = cluster.names;
  await configureAll();
  await cluster.edit(1, 1400);
  await untilEach(good);
  await cluster.annotate(paused, { 'multinic.io/paused': 'true' });
  await cluster.edit(1, 1420);
  for (const name of others) await fixture.untilReady(name, good);
  fixture.agents.requests.length = 0;
  fixture.agents.answer = (request) =>
    hasMtu(request, 1400) ? failed(request) : configured(request);
  await cluster.edit(1, 1400);
  await cluster.untilStopped(count - 2);
  expect(given(1400).size).toBe(1);
});
