import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drifted, good } from '../../test/fixtures/checks.ts';
import { ControllerFixture } from '../../test/fixtures/controller.ts';
import { entry, instanceId, nicResult } from '../../test/fixtures/controller-samples.ts';
import type { Answer } from '../../test/fixtures/scripted-agents.ts';
import { findCondition } from '../api/condition.ts';
import type { JobRequest } from '../api/job.ts';
import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import { annotations, labels } from '../api/names.ts';
import { nodes } from '../kube/core-resources.ts';
import { nodeConfigs } from './objects/stores.ts';

const name = 'worker-1';
const ref = { namespace: 'multinic-system', name };
const observed = 'Unknown Observed';
/** Annotation set by Viola with the mode. */
const paused = { annotations: { [annotations.paused]: 'true' } };
const twoNics = [entry(0), entry(1)];

let fixture: ControllerFixture;
/** Actions of all created Jobs. */
let created: string[];

beforeEach(async () => {
  fixture = await ControllerFixture.start();
  created = [];
  fixture.through = (client) => {
    const create: typeof client.create = (resource, object, options) => {
      const action = object.metadata.labels?.[labels.action];
      if (resource.plural === 'jobs' && action) created.push(action);
      return client.create(resource, object, options);
    };
    return { ...client, create };
  };
  await fixture.addNode(name);
  await machine({});
  fixture.run();
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

function machine(change: object): Promise<void> {
  const nodeInfo = { systemUUID: instanceId, machineID: 'machine-1', bootID: 'boot-1', ...change };
  return fixture.setNode(name, nodeInfo);
}

function observe(interfaces: readonly InterfaceSpec[] = twoNics, change: object = {}) {
  const spec = { interfaces: [...interfaces], mode: 'Observe' as const, ...change };
  return fixture.apply(name, spec, paused);
}

const apply = (interfaces: readonly InterfaceSpec[] = twoNics) =>
  fixture.apply(name, { interfaces: [...interfaces] });

const annotate = (values: Readonly<Record<string, string | null>>) =>
  fixture.admin.patch(nodeConfigs, ref, { metadata: { annotations: values } });

function untilChecks(count: number): Promise<void> {
  return fixture.eventually(
    () => checks() >= count,
    () => `${created.join()} has fewer than ${count} checks`,
  );
}

const checks = (): number => created.filter((action) => action === 'check').length;

async function shown() {
  const { status = {} } = await fixture.get(name);
  const { state, summary, conditions = [], interfaceStatuses = [] } = status;
  const [ready] = conditions.filter(({ type }) => type === 'Ready');
  return {
    state,
    nics: summary?.nics,
    ready: `${ready?.status} ${ready?.reason} ${ready?.message}`,
    statuses: interfaceStatuses.map((nic) => `${nic.name} ${nic.status} ${nic.reason}`),
    conditions: conditions.map(({ type }) => type),
  };
}

/** Answers checks with `answer`, and other requests as a working agent. */
function answerChecks(answer: (request: JobRequest) => Answer): void {
  fixture.agents.answer = (request) =>
    request.action === 'check' ? answer(request) : fixture.agents.run(request);
}

const refusal = { reason: 'StaleRequest', message: 'generation 1 is older than 9' } as const;
const stale = (): Answer => ({ outcome: 'refused', refusal });
const unknownAction = { reason: 'InvalidRequest', message: 'action: Invalid option' } as const;

async function register(machineID: string): Promise<void> {
  await fixture.admin.delete(nodes, { name });
  await fixture.pass(5);
  await fixture.addNode(name);
  await machine({ machineID });
}

/** Events with an apply or a clean-up in mode Apply; `checks`: minimum number of further checks. */
const ways: readonly (readonly [what: string, checks: number, act: () => Promise<unknown>])[] = [
  ['a further NIC in the spec', 1, () => observe([...twoNics, entry(2)])],
  ['a NIC less in the spec', 1, () => observe([entry(0)])],
  ['no NIC in the spec', 1, () => observe([])],
  ['a changed address', 1, () => observe([entry(0, { address: '10.0.0.77' }), entry(1)])],
  ['a changed MTU', 1, () => observe(twoNics.map((nic) => ({ ...nic, mtu: 1400 })))],
  ['consent to removals', 0, () => annotate({ [annotations.allowRemovals]: 'now' })],
  ['a continued rollout', 0, () => annotate({ [annotations.rolloutContinue]: 'now' })],
  ['a request to check', 1, () => annotate({ [annotations.check]: 'now' })],
  ['a request to heal', 1, () => annotate({ [annotations.heal]: 'now' })],
  ['a boot', 1, () => machine({ bootID: 'boot-2' })],
  ['a new machine under the Node name', 1, () => machine({ machineID: 'machine-2' })],
  ['a Node registered again', 1, () => register('machine-2')],
  ['a different node in the spec', 1, () => observe(twoNics, { instanceId: 'uuid-2' })],
  ['a missing node', 0, () => observe(twoNics, { instanceId: 'uuid-of-nothing' })],
  ['no annotation paused', 0, () => annotate({ [annotations.paused]: null })],
  ['the interval of checks', 1, () => fixture.clock.advance(20 * 60_000)],
  ['a controller restart', 0, restart],
];

async function restart(): Promise<void> {
  await fixture.stop();
  fixture.run();
}

describe('an observed object', () => {
  beforeEach(async () => {
    await fixture.addNode('worker-2', 'uuid-2');
  });

  const rows = ways.flatMap(([what, more, act]) =>
    [false, true].map((wasApplied) => [what, wasApplied, more, act] as const),
  );
  it.each(rows)('gets checks only after %s (applied before: %s)', async (_, was, more, act) => {
    if (was) await apply();
    if (was) await fixture.untilReady(name, good);
    answerChecks(drifted);
    await observe();
    await fixture.untilReady(name, observed);
    await untilChecks(1);
    await fixture.pass(10);
    const before = checks();
    await act();
    await untilChecks(before + more);
    await fixture.pass(50);
    expect(created.filter((action) => action !== 'check')).toEqual(was ? ['apply'] : []);
    expect(fixture.agents.macsOn(name)).toHaveLength(was ? 2 : 0);
  });

  it.each([
    ['a stale request', stale],
    ['an agent without checks', () => ({ outcome: 'refused', refusal: unknownAction }) as const],
  ])('gets no apply after %s', async (_, answer) => {
    answerChecks(answer);
    await observe();
    await untilChecks(3);
    await annotate({ [annotations.heal]: 'now' });
    await untilChecks(4);
    await fixture.pass(50);
    expect(new Set(created)).toEqual(new Set(['check']));
  });

  it('is deleted without an agent run before the first apply', async () => {
    await observe();
    await fixture.untilReady(name, observed);
    await untilChecks(1);
    await fixture.pass(10);
    await fixture.delete(name);
    await fixture.untilGone(name);
    await fixture.pass(20);
    expect(new Set(created)).toEqual(new Set(['check']));
  });

  it.each([
    ['node', instanceId],
    ['former node', 'uuid-2'],
  ])('is deleted after a clean-up of the %s changed by an agent run', async (_w, id) => {
    await apply();
    await fixture.untilReady(name, good);
    await observe(twoNics, { instanceId: id });
    await fixture.untilReady(name, observed);
    await fixture.delete(name);
    await fixture.untilGone(name);
    expect(created).toContain('cleanup');
    expect(fixture.agents.macsOn(name)).toEqual([]);
  });
});

describe('the status of an observed object', () => {
  it('has the findings from the check, and no condition Paused', async () => {
    const inUse = {
      state: 'Failed',
      reason: 'NICInUse',
      message: 'dhcp4 configures the NIC',
      code: 'ConfiguredByFile',
      args: 'file=50-cloud-init.yaml',
      name: 'ens4',
      found: { file: '/etc/netplan/50-cloud-init.yaml', dhcp: true },
    } as const;
    answerChecks(() => ({ outcome: 'failed', nics: [nicResult(0, inUse), nicResult(1)] }));
    await observe();
    await untilChecks(1);
    await fixture.pass(10);
    expect(await shown()).toEqual({
      state: 'Observed',
      nics: '0/2',
      ready:
        'Unknown Observed observe only: 0 of 2 NICs are configured as requested; multinic0 NICInUse: dhcp4 configures the NIC; multinic1 Observed: is as requested, but not configured by MultiNIC',
      statuses: ['ens4 Observed NICInUse', 'multinic1 Observed Observed'],
      conditions: ['Ready', 'Accepted'],
    });
    const { status } = await fixture.get(name);
    const { code, args, found } = inUse;
    expect(status?.interfaceStatuses?.[0]).toMatchObject({ code, args, found });
    expect(status?.applied).toMatchObject({ action: 'check' });
    expect(status?.applied).toHaveProperty('checkedAt');
    expect(fixture.events()).toContain('Observed');
    expect(fixture.events()).not.toContain('NICInUse');
  });

  it('names multinic.io/heal as a check only', async () => {
    await observe();
    await untilChecks(1);
    await annotate({ [annotations.heal]: 'now' });
    await fixture.until(name, ({ status }) => status?.applied?.healAsked === 'now');
    expect((await shown()).ready).toContain('; multinic.io/heal only checks the node; ');
  });

  it('names a failed check until a check succeeds', async () => {
    answerChecks(() => 'not a result');
    await observe();
    await fixture.until(name, ({ status }) => {
      const ready = findCondition(status?.conditions, 'Ready');
      return ready?.message?.includes('the last check failed: ResultLost: ') ?? false;
    });
    expect(await shown()).toMatchObject({ state: 'Observed', nics: '0/2' });
    answerChecks((request) => fixture.agents.run(request));
    await fixture.until(name, ({ status }) => status?.applied?.checkedAt !== undefined);
    expect((await shown()).conditions).toEqual(['Ready', 'Accepted']);
  });

  it('shows Paused for a paused object in mode Apply', async () => {
    await fixture.apply(name, { interfaces: twoNics }, paused);
    await fixture.untilReady(name, 'Unknown Paused');
    expect((await shown()).conditions).toContain('Paused');
    await fixture.pass(30);
    expect(created).toEqual([]);
  });

  it('is not written again by checks with the same result', async () => {
    await observe();
    await untilChecks(1);
    await fixture.pass(20);
    const before = await fixture.get(name);
    await fixture.pass(25, 60_000);
    await untilChecks(2);
    const { resourceVersion } = (await fixture.get(name)).metadata;
    expect(resourceVersion).toBe(before.metadata.resourceVersion);
  });
});

/** Returns annotations of an object by the OpenstackConfig in this generation. */
function source(generation: number) {
  const text = JSON.stringify({ uid: 'config-1', generation });
  return { annotations: { [annotations.source]: text } };
}

describe('a change of the mode', () => {
  it('from Observe to Apply configures the node as a first apply', async () => {
    await observe();
    await untilChecks(1);
    await fixture.pass(10);
    await apply();
    const { status } = await fixture.untilReady(name, good);
    expect(created).toEqual(['check', 'apply']);
    expect(status).toMatchObject({ state: 'Configured', summary: { nics: '2/2' } });
    expect(status?.applied).toMatchObject({ action: 'apply', attempt: 1, done: true });
    expect(status?.applied).not.toHaveProperty('rollout');
  });

  it('to Observe and back starts no apply on an unchanged node', async () => {
    await apply();
    const { status: before } = await fixture.untilReady(name, good);
    await observe();
    await fixture.untilReady(name, observed);
    await fixture.until(name, ({ status }) => status?.applied?.checkedContent !== undefined);
    expect(await shown()).toMatchObject({
      nics: '2/2',
      ready: 'Unknown Observed observe only: 2 of 2 NICs are configured as requested',
    });
    await apply();
    const { status: after } = await fixture.untilReady(name, good);
    await fixture.pass(30);
    expect(created).toEqual(['apply', 'check']);
    for (const field of ['content', 'job', 'at', 'nics', 'shared', 'revision'] as const) {
      expect(after?.applied?.[field]).toEqual(before?.applied?.[field]);
    }
    expect(after?.observedSpecHash).toBe(before?.observedSpecHash);
    expect(after?.state).toBe('Configured');
  });

  it('to Apply heals drift found by a check meanwhile', async () => {
    await apply();
    await fixture.untilReady(name, good);
    answerChecks(drifted);
    await observe();
    await fixture.until(name, ({ status }) => {
      return findCondition(status?.conditions, 'Drifted')?.status === 'True';
    });
    await fixture.pass(30);
    expect(created).toEqual(['apply', 'check']);
    answerChecks((request) => fixture.agents.run(request));
    await apply();
    await fixture.eventually(
      () => created.length > 2,
      () => 'nothing is applied',
    );
    expect(created[2]).toBe('apply');
    await fixture.untilReady(name, good);
  });

  it('to Observe withdraws a waiting Job, and a running agent completes', async () => {
    fixture.agents.answer = (request) =>
      request.action === 'check' ? fixture.agents.run(request) : { waiting: 'ContainerCreating' };
    await apply();
    await fixture.eventually(
      () => created.length === 1,
      () => 'no Job',
    );
    await observe();
    await fixture.untilReady(name, observed);
    await untilChecks(1);
    expect(fixture.agents.requests.map(({ action }) => action)).not.toContain('apply');
    fixture.agents.answer = (request) => fixture.agents.run(request);
    await apply();
    await fixture.untilReady(name, good);
    fixture.agents.answer = () => undefined;
    await apply([entry(0)]);
    await fixture.until(name, ({ status }) => status?.applied?.done === undefined);
    await fixture.pass(5);
    await observe([entry(0)]);
    await fixture.pass(20);
    fixture.agents.answer = (request) => fixture.agents.run(request);
    await fixture.until(name, ({ status }) => status?.applied?.done === true);
    await fixture.untilReady(name, observed);
  });

  it('to Observe lets no node wait in a rollout', async () => {
    for (const n of [2, 3]) {
      await fixture.addNode(`worker-${n}`, `uuid-${n}`);
    }
    const write = (n: number, generation: number, change: object = {}) => {
      const spec = { instanceId: n === 1 ? instanceId : `uuid-${n}`, interfaces: [entry(0)] };
      return fixture.apply(`worker-${n}`, { ...spec, ...change }, source(generation));
    };
    for (const n of [1, 2, 3]) await write(n, 1);
    for (const n of [1, 2, 3]) await fixture.untilReady(`worker-${n}`, good);
    fixture.agents.answer = (request) =>
      request.nodeName === name ? 'not a result' : fixture.agents.run(request);
    const next = { interfaces: [entry(0, { mtu: 1400 })] };
    await write(1, 2, next);
    await fixture.untilReady(name, 'False ResultLost');
    await write(1, 2, { ...next, mode: 'Observe' });
    await fixture.untilReady(name, observed);
    for (const n of [2, 3]) await write(n, 2, next);
    for (const n of [2, 3]) await fixture.untilReady(`worker-${n}`, good);
  });
});

describe('the network manager of an observed host', () => {
  it('is found by a second check, and used by the first apply', async () => {
    fixture.agents.answer = (request) => {
      if (request.family === 'networkd') return fixture.agents.run(request);
      const other = { state: 'Failed', reason: 'WrongFamily', message: 'networkd' } as const;
      const nics = [nicResult(0, other), nicResult(1, other)];
      return { outcome: 'failed', nics, family: 'networkd' };
    };
    await observe();
    await fixture.until(name, ({ status }) => status?.applied?.checkedAt !== undefined);
    await fixture.pass(30);
    expect(fixture.agents.requests.map(({ family }) => family)).toEqual(['netplan', 'networkd']);
    await apply();
    await fixture.untilReady(name, good);
    expect(created).toEqual(['check', 'check', 'apply']);
  });
});
