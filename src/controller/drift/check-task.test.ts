import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checksOn, drifted, good } from '../../../test/fixtures/checks.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry } from '../../../test/fixtures/controller-samples.ts';
import { configured } from '../../../test/fixtures/scripted-agents.ts';

let bed: ControllerFixture;

beforeEach(async () => {
  bed = await ControllerFixture.start();
});

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
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
} = checksOn(() => bed);

describe('a node that was started anew', () => {
  it('is looked at, and nothing else where it is as it shall be', async () => {
    await configure();
    await boot();
    await untilActions('apply', 'check');
    await untilDrift('False AsApplied');
    const { status } = await bed.untilReady('worker-1', good);
    expect(status?.applied).toMatchObject({ bootId: 'boot-2', done: true });
    await bed.pass(20);
    expect(actions()).toEqual(['apply', 'check']);
    expect(bed.agents.requests[1]).toMatchObject({ protocol: 3, interfaces: [{ index: 0 }] });
  });

  it('[RW-12] is brought back where it differs, and told of as long as it does', async () => {
    await configure();
    bed.agents.answer = ({ action }) => (action === 'check' ? drifted() : undefined);
    await boot();
    await untilDrift('True Drifted multinic0 Drifted: an apply would: ip addr');
    await untilActions('apply', 'check', 'apply');
    expect(await bed.ready('worker-1')).toMatch(/^Unknown/);
    bed.agents.answer = configured;
    await untilDrift('False AsApplied');
    await bed.untilReady('worker-1', good);
    expect(bed.events()).toContain('Drifted');
    await bed.pass(20);
    expect(actions()).toEqual(['apply', 'check', 'apply']);
  });

  it('is left as it is where drift is to be reported', async () => {
    await configure({ 'drift-policy': 'report' });
    answerChecks(drifted);
    await boot();
    await untilDrift('True Drifted');
    await bed.untilReady('worker-1', good);
    expect(bed.metrics.registry.getSingleMetric('multinic_node_configs_drifted')).toBeDefined();
    await bed.pass(20);
    expect(actions()).toEqual(['apply', 'check']);
    answerChecks(configured);
    await ask('now');
    await untilDrift('False AsApplied');
  });

  it('is brought back as soon as drift that was reported is to be healed', async () => {
    await configure({ 'drift-policy': 'report' });
    answerChecks(drifted);
    await boot();
    await untilDrift('True Drifted');
    await bed.stop();
    bed.run({ 'drift-policy': 'heal' });
    await untilDrift('False AsApplied');
    await bed.untilReady('worker-1', good);
    await bed.pass(20);
    expect(actions()).toEqual(['apply', 'check', 'apply']);
  });

  it('is applied to again where its agent has no word for a check', async () => {
    await configure();
    answerChecks(() => ({
      outcome: 'refused',
      refusal: { reason: 'InvalidRequest', message: 'action: Invalid option' },
    }));
    await boot();
    await untilActions('apply', 'check', 'apply');
    await bed.untilReady('worker-1', good);
    await bed.pass(20);
    expect(actions()).toEqual(['apply', 'check', 'apply']);
  });

  it.each(['heal', 'report'])(
    'is applied to again when its host has seen a newer state of the object: %s',
    async (policy) => {
      await configure({ 'drift-policy': policy });
      const fence = { uid: 'uid-of-a-newer-one', generation: 9 };
      const refusal = { reason: 'StaleRequest', message: 'generation 1 is older than 9' } as const;
      bed.agents.answer = (request) =>
        request.supersedes?.generation === fence.generation
          ? configured(request)
          : { outcome: 'refused', refusal, fence };
      await boot();
      await untilActions('apply', 'check', 'apply', 'apply');
      await bed.untilReady('worker-1', good);
    },
  );

  it('is left alone where drift is to be reported, and its agent has no word for a check', async () => {
    await configure({ 'drift-policy': 'report' });
    const refusal = { reason: 'InvalidRequest', message: 'action: Invalid option' } as const;
    answerChecks(() => ({ outcome: 'refused', refusal }));
    await boot();
    await untilDrift('Unknown InvalidRequest');
    await bed.untilReady('worker-1', 'False InvalidRequest');
    await bed.pass(20);
    expect(actions().filter((action) => action === 'apply')).toHaveLength(1);
  });

  it('is not taken for what it was while no look is let in, and looked at as soon as one is', async () => {
    const quota = refuseChecks();
    await configure();
    await boot();
    await bed.untilReady('worker-1', 'False JobRefused');
    for (let step = 0; step < 10; step++) {
      await bed.clock.advance(1_000);
      await bed.pass(2);
      expect(await bed.ready('worker-1')).toBe('False JobRefused');
    }
    quota.isFull = false;
    await untilActions('apply', 'check');
    await bed.untilReady('worker-1', good);
  });

  it('is looked at once, whatever becomes of the controller meanwhile', async () => {
    await configure();
    answerChecks(() => undefined);
    await boot();
    await untilActions('apply', 'check');
    await bed.stop();
    bed.run();
    await bed.pass(20);
    answerChecks(configured);
    await bed.untilReady('worker-1', good);
    expect(actions()).toEqual(['apply', 'check']);
    expect(bed.created('jobs')).toBe(2);
  });
});

describe('a node that runs on', () => {
  it('is looked at when it is ready again, and stays Ready meanwhile', async () => {
    await configure();
    await bed.setReady('worker-1', 'Unknown');
    await bed.pass(5);
    expect(actions()).toEqual(['apply']);
    answerChecks(() => undefined);
    await bed.setReady('worker-1', 'True');
    await untilActions('apply', 'check');
    await bed.pass(5);
    expect(await bed.ready('worker-1')).toBe(good);
    answerChecks(configured);
    await untilDrift('False AsApplied');
    await bed.pass(20);
    expect(actions()).toEqual(['apply', 'check']);
  });

  it('is looked at once for each new value of the annotation', async () => {
    await configure();
    await ask('one');
    await untilDrift('False AsApplied');
    await ask('one');
    await bed.pass(20);
    expect(actions()).toEqual(['apply', 'check']);
    await ask('two');
    await untilActions('apply', 'check', 'check');
  });

  it('is told of when the status can be written again', async () => {
    await configure();
    answerChecks(drifted);
    await ask('now');
    bed.api.faults.answer({
      verb: 'patch',
      resource: 'multinicnodeconfigs.multinic.io',
      status: 503,
      times: 3,
    });
    await untilActions('apply', 'check', 'apply');
    await untilDrift('False AsApplied');
  });

  it('is looked at from time to time', async () => {
    await configure({ 'check-interval': '10m' });
    await bed.clock.advance(7 * 60_000);
    await bed.pass(5);
    expect(actions()).toEqual(['apply']);
    await bed.clock.advance(6 * 60_000);
    await untilActions('apply', 'check');
    await untilDrift('False AsApplied');
    await bed.pass(20);
    expect(actions()).toEqual(['apply', 'check']);
  });

  it('is no worse for a look that comes to nothing, which is repeated ever more rarely', async () => {
    await configure();
    answerChecks(() => 'not a result');
    await ask('now');
    await untilDrift('Unknown ResultLost');
    await bed.eventually(
      () => actions().length === 4,
      () => `${actions().length} agents`,
    );
    const before = bed.clock.now().getTime();
    await untilActions('apply', 'check', 'check', 'check', 'check');
    expect(bed.clock.now().getTime() - before).toBeGreaterThan(3_000);
    expect(await bed.ready('worker-1')).toBe(good);
    answerChecks(configured);
    await untilDrift('False AsApplied');
  });

  it('is no worse for a look that does not begin', async () => {
    await configure();
    answerChecks(() => ({ waiting: 'ContainerCreating' }));
    await ask('now');
    await bed.pass(5);
    await bed.clock.advance(121_000);
    await untilDrift('Unknown NotStarted');
    expect(await bed.ready('worker-1')).toBe(good);
    await bed.eventually(
      () => looks().length === 0,
      () => 'the Job stays',
    );
  });

  it('is not sent one look after the other where none begins and each is gone at once', async () => {
    dropJobsAtOnce();
    await configure();
    answerChecks(() => ({ waiting: 'ContainerCreating' }));
    await ask('now');
    await bed.pass(5);
    await bed.clock.advance(120_000);
    await untilDrift('Unknown NotStarted');
    await bed.pass(30);
    expect(bed.created('jobs')).toBe(3);
    expect(bed.jobs().map(({ spec }) => spec?.suspend)).toEqual([false, false]);
    answerChecks(configured);
    await untilDrift('False AsApplied');
  });

  it('keeps the end of an apply that nobody can look at after it', async () => {
    refuseChecks();
    bed.agents.answer = () => undefined;
    await bed.addNode('worker-1');
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await untilActions('apply');
    await ask('now');
    bed.agents.answer = configured;
    const { status } = await bed.untilReady('worker-1', good);
    expect(status?.applied?.done).toBe(true);
    await untilDrift('Unknown JobRefused exceeded quota');
  });

  it('is no worse where the server takes no Job, and looked at when it takes one again', async () => {
    const quota = refuseChecks();
    await configure();
    await ask('now');
    await untilDrift('Unknown JobRefused exceeded quota');
    expect(await bed.ready('worker-1')).toBe(good);
    await bed.pass(50);
    quota.isFull = false;
    await untilDrift('False AsApplied');
  });

  it('is changed at once when its spec changes: a look that has not begun makes way', async () => {
    await configure();
    answerChecks(() => ({ waiting: 'ContainerCreating' }));
    await ask('now');
    await bed.pass(5);
    expect(bed.created('jobs')).toBe(2);
    await bed.apply('worker-1', { interfaces: [entry(0, { address: '10.0.0.77' })] });
    await bed.untilReady('worker-1', good);
    expect(actions()).toEqual(['apply', 'apply']);
  });

  it('is cleaned while somebody looks at it, once that has ended', async () => {
    await configure();
    answerChecks(() => undefined);
    await ask('now');
    await untilActions('apply', 'check');
    await bed.delete('worker-1');
    await bed.pass(50);
    expect(actions()).toEqual(['apply', 'check']);
    answerChecks(configured);
    await bed.untilGone('worker-1');
    expect(actions()).toEqual(['apply', 'check', 'cleanup']);
  });
});

it('looks at no more nodes at once than a quarter of those that may be worked on', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const name of names) await bed.addNode(name, `uuid-${name}`);
  bed.run({ 'max-in-flight': '8' });
  for (const name of names) {
    await bed.apply(name, { instanceId: `uuid-${name}`, interfaces: [entry(0)] });
  }
  for (const name of names) await bed.untilReady(name, good);
  answerChecks(() => undefined);
  for (const name of names) {
    await bed.setNode(name, { systemUUID: `uuid-${name}`, bootID: 'boot-2' });
  }
  await bed.pass(30);
  expect(looking()).toBe(2);
  answerChecks(configured);
  for (const name of names) await bed.untilReady(name, good);
  expect(looking()).toBe(6);
});
