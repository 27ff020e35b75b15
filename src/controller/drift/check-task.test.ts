import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checksOn, drifted, good } from '../../../test/fixtures/checks.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry } from '../../../test/fixtures/controller-samples.ts';
import { configured } from '../../../test/fixtures/scripted-agents.ts';
import { protocol } from '../../api/job.ts';

let fixture: ControllerFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

const {
  answerChecks,
  configure,
  boot,
  ask,
  refuseChecks,
  dropJobsAtOnce,
  actions,
  untilActions,
  looks,
  looking,
  untilDrift,
} = checksOn(() => fixture);

it('a check falls back to the protocol of the record, once per controller', async () => {
  const refused = {
    outcome: 'refused',
    refusal: { reason: 'InvalidRequest', message: 'protocol' },
  } as const;
  fixture.agents.answer = (request) => (request.protocol > 4 ? refused : configured(request));
  await configure();
  const asked = () =>
    fixture.agents.requests.flatMap((request) =>
      request.action === 'check' ? [request.protocol] : [],
    );
  await ask('first');
  await untilDrift('False AsApplied');
  expect(asked()).toEqual([protocol, 4]);
  await ask('second');
  await fixture.eventually(
    () => asked().length > 2,
    () => 'no second check',
  );
  expect(asked()).toEqual([protocol, 4, 4]);
  expect(actions()).not.toContain('cleanup');
});

describe('a rebooted node', () => {
  it('a rebooted node without drift gets one check and no apply', async () => {
    await configure();
    await boot();
    await untilActions('apply', 'check');
    await untilDrift('False AsApplied');
    const { status } = await fixture.untilReady('worker-1', good);
    expect(status?.applied).toMatchObject({ bootId: 'boot-2', done: true });
    await fixture.pass(20);
    expect(actions()).toEqual(['apply', 'check']);
    expect(fixture.agents.requests[1]).toMatchObject({
      protocol,
      interfaces: [{ index: 0 }],
      mayRemove: [],
    });
  });

  it('[RW-12] a rebooted node with drift is repaired, and Drifted is True meanwhile', async () => {
    await configure();
    fixture.agents.answer = ({ action }) => (action === 'check' ? drifted() : undefined);
    await boot();
    await untilDrift('True Drifted multinic0 Drifted: an apply would: ip addr');
    await untilActions('apply', 'check', 'apply');
    expect(await fixture.ready('worker-1')).toMatch(/^Unknown/);
    fixture.agents.answer = configured;
    await untilDrift('False AsApplied');
    await fixture.untilReady('worker-1', good);
    expect(fixture.events()).toContain('Drifted');
    await fixture.pass(20);
    expect(actions()).toEqual(['apply', 'check', 'apply']);
  });

  it("with drift policy `report`, a rebooted node's drift is reported and not repaired", async () => {
    await configure({ 'drift-policy': 'report' });
    answerChecks(drifted);
    await boot();
    await untilDrift('True Drifted');
    await fixture.untilReady('worker-1', good);
    expect(fixture.metrics.registry.getSingleMetric('multinic_node_configs_drifted')).toBeDefined();
    await fixture.pass(20);
    expect(actions()).toEqual(['apply', 'check']);
    answerChecks(configured);
    await ask('now');
    await untilDrift('False AsApplied');
  });

  it('reported drift is repaired when the policy changes to `heal`', async () => {
    await configure({ 'drift-policy': 'report' });
    answerChecks(drifted);
    await boot();
    await untilDrift('True Drifted');
    await fixture.stop();
    fixture.run({ 'drift-policy': 'heal' });
    await untilDrift('False AsApplied');
    await fixture.untilReady('worker-1', good);
    await fixture.pass(20);
    expect(actions()).toEqual(['apply', 'check', 'apply']);
  });

  it('with drift policy `heal`, a rebooted node with an older agent without checks is applied again', async () => {
    await configure();
    answerChecks(() => ({
      outcome: 'refused',
      refusal: { reason: 'InvalidRequest', message: 'action: Invalid option' },
    }));
    await boot();
    await untilActions('apply', 'check', 'apply');
    await fixture.untilReady('worker-1', good);
    await fixture.pass(20);
    expect(actions()).toEqual(['apply', 'check', 'apply']);
  });

  it.each(['heal', 'report'])(
    'a rebooted node whose host has a newer fence is applied again with supersedes: %s',
    async (policy) => {
      await configure({ 'drift-policy': policy });
      const fence = { uid: 'uid-of-a-newer-one', generation: 9 };
      const refusal = { reason: 'StaleRequest', message: 'generation 1 is older than 9' } as const;
      fixture.agents.answer = (request) =>
        request.supersedes?.generation === fence.generation
          ? configured(request)
          : { outcome: 'refused', refusal, fence };
      await boot();
      await untilActions('apply', 'check', 'apply', 'apply');
      await fixture.untilReady('worker-1', good);
    },
  );

  it('with drift policy `report`, an older agent without checks causes no second apply', async () => {
    await configure({ 'drift-policy': 'report' });
    const refusal = { reason: 'InvalidRequest', message: 'action: Invalid option' } as const;
    answerChecks(() => ({ outcome: 'refused', refusal }));
    await boot();
    await untilDrift('Unknown InvalidRequest');
    await fixture.untilReady('worker-1', 'False InvalidRequest');
    await fixture.pass(20);
    expect(actions().filter((action) => action === 'apply')).toHaveLength(1);
  });

  it('a rebooted node is not Ready while check Jobs are refused, and is checked once allowed', async () => {
    const quota = refuseChecks();
    await configure();
    await boot();
    await fixture.untilReady('worker-1', 'False JobRefused');
    for (let step = 0; step < 10; step++) {
      await fixture.clock.advance(1_000);
      await fixture.pass(2);
      expect(await fixture.ready('worker-1')).toBe('False JobRefused');
    }
    quota.isFull = false;
    await untilActions('apply', 'check');
    await fixture.untilReady('worker-1', good);
  });

  it('a rebooted node is checked once across a controller restart', async () => {
    await configure();
    answerChecks(() => undefined);
    await boot();
    await untilActions('apply', 'check');
    await fixture.stop();
    fixture.run();
    await fixture.pass(20);
    answerChecks(configured);
    await fixture.untilReady('worker-1', good);
    expect(actions()).toEqual(['apply', 'check']);
    expect(fixture.created('jobs')).toBe(2);
  });
});

describe('a running node', () => {
  it('a node that becomes Ready again is checked and stays Ready meanwhile', async () => {
    await configure();
    await fixture.setReady('worker-1', 'Unknown');
    await fixture.pass(5);
    expect(actions()).toEqual(['apply']);
    answerChecks(() => undefined);
    await fixture.setReady('worker-1', 'True');
    await untilActions('apply', 'check');
    await fixture.pass(5);
    expect(await fixture.ready('worker-1')).toBe(good);
    answerChecks(configured);
    await untilDrift('False AsApplied');
    await fixture.pass(20);
    expect(actions()).toEqual(['apply', 'check']);
  });

  it('a node is checked once per new annotation value', async () => {
    await configure();
    await ask('one');
    await untilDrift('False AsApplied');
    await ask('one');
    await fixture.pass(20);
    expect(actions()).toEqual(['apply', 'check']);
    await ask('two');
    await untilActions('apply', 'check', 'check');
  });

  it('a drift result is stored after the status becomes writable again', async () => {
    await configure();
    answerChecks(drifted);
    await ask('now');
    fixture.api.faults.answer({
      verb: 'patch',
      resource: 'multinicnodeconfigs.multinic.io',
      status: 503,
      times: 3,
    });
    await untilActions('apply', 'check', 'apply');
    await untilDrift('False AsApplied');
  });

  it('a node is checked after the check interval', async () => {
    await configure({ 'check-interval': '10m' });
    await fixture.clock.advance(7 * 60_000);
    await fixture.pass(5);
    expect(actions()).toEqual(['apply']);
    await fixture.clock.advance(6 * 60_000);
    await untilActions('apply', 'check');
    await untilDrift('False AsApplied');
    await fixture.pass(20);
    expect(actions()).toEqual(['apply', 'check']);
  });

  it('a failing check leaves the object Ready and is retried with growing delays', async () => {
    await configure();
    answerChecks(() => 'not a result');
    await ask('now');
    await untilDrift('Unknown ResultLost');
    await fixture.eventually(
      () => actions().length === 4,
      () => `${actions().length} agents`,
    );
    const before = fixture.clock.now().getTime();
    await untilActions('apply', 'check', 'check', 'check', 'check');
    expect(fixture.clock.now().getTime() - before).toBeGreaterThan(3_000);
    expect(await fixture.ready('worker-1')).toBe(good);
    answerChecks(configured);
    await untilDrift('False AsApplied');
  });

  it('a check that does not start leaves the object Ready, and its Job is removed', async () => {
    await configure();
    answerChecks(() => ({ waiting: 'ContainerCreating' }));
    await ask('now');
    await fixture.pass(5);
    await fixture.clock.advance(121_000);
    await untilDrift('Unknown NotStarted');
    expect(await fixture.ready('worker-1')).toBe(good);
    await fixture.eventually(
      () => looks().length === 0,
      () => 'the Job stays',
    );
  });

  it('checks that do not start are retried with backoff even if their Jobs vanish immediately', async () => {
    dropJobsAtOnce();
    await configure();
    answerChecks(() => ({ waiting: 'ContainerCreating' }));
    await ask('now');
    await fixture.pass(5);
    await fixture.clock.advance(120_000);
    await untilDrift('Unknown NotStarted');
    await fixture.pass(30);
    expect(fixture.created('jobs')).toBe(3);
    expect(fixture.jobs().map(({ spec }) => spec?.suspend)).toEqual([false, false]);
    answerChecks(configured);
    await untilDrift('False AsApplied');
  });

  it("an apply's outcome is kept when the following check is refused", async () => {
    refuseChecks();
    fixture.agents.answer = () => undefined;
    await fixture.addNode('worker-1');
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await untilActions('apply');
    await ask('now');
    fixture.agents.answer = configured;
    const { status } = await fixture.untilReady('worker-1', good);
    expect(status?.applied?.done).toBe(true);
    await untilDrift('Unknown JobRefused exceeded quota');
  });

  it('a refused check Job leaves the object Ready, and the check runs when allowed', async () => {
    const quota = refuseChecks();
    await configure();
    await ask('now');
    await untilDrift('Unknown JobRefused exceeded quota');
    expect(await fixture.ready('worker-1')).toBe(good);
    await fixture.pass(50);
    quota.isFull = false;
    await untilDrift('False AsApplied');
  });

  it('a spec change is applied immediately, and removes a check not yet started', async () => {
    await configure();
    answerChecks(() => ({ waiting: 'ContainerCreating' }));
    await ask('now');
    await fixture.pass(5);
    expect(fixture.created('jobs')).toBe(2);
    await fixture.apply('worker-1', { interfaces: [entry(0, { address: '10.0.0.77' })] });
    await fixture.untilReady('worker-1', good);
    expect(actions()).toEqual(['apply', 'apply']);
  });

  it('a clean-up waits for a running check', async () => {
    await configure();
    answerChecks(() => undefined);
    await ask('now');
    await untilActions('apply', 'check');
    await fixture.delete('worker-1');
    await fixture.pass(50);
    expect(actions()).toEqual(['apply', 'check']);
    answerChecks(configured);
    await fixture.untilGone('worker-1');
    expect(actions()).toEqual(['apply', 'check', 'cleanup']);
  });
});

it('checks use at most a quarter of max-in-flight', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const name of names) await fixture.addNode(name, `uuid-${name}`);
  fixture.run({ 'max-in-flight': '8' });
  for (const name of names) {
    await fixture.apply(name, { instanceId: `uuid-${name}`, interfaces: [entry(0)] });
  }
  for (const name of names) await fixture.untilReady(name, good);
  answerChecks(() => undefined);
  for (const name of names) {
    await fixture.setNode(name, { systemUUID: `uuid-${name}`, bootID: 'boot-2' });
  }
  await fixture.pass(30);
  expect(looking()).toBe(2);
  answerChecks(configured);
  for (const name of names) await fixture.untilReady(name, good);
  expect(looking()).toBe(6);
});
