import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checksOn, drifted, good } from '../../../test/fixtures/checks.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { configured } from '../../../test/fixtures/scripted-agents.ts';

let fixture: ControllerFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

const { actions, answerChecks, ask, askHeal, configure, untilActions, untilDrift } = checksOn(
  () => fixture,
);

const report = { 'drift-policy': 'report' };

describe('multinic.io/heal with drift policy `report`', () => {
  it('a new value checks the node and applies what differs once', async () => {
    await configure(report);
    let differs = true;
    fixture.agents.answer = (request) => {
      if (request.action === 'check') return differs ? drifted() : configured(request);
      differs = false;
      return configured(request);
    };
    await ask('one');
    await untilDrift('True Drifted');
    await fixture.pass(50);
    expect(actions()).toEqual(['apply', 'check']);
    await askHeal('one');
    await untilActions('apply', 'check', 'check', 'apply');
    await untilDrift('False AsApplied');
    const { status } = await fixture.untilReady('worker-1', good);
    expect(status?.applied).toMatchObject({ healAsked: 'one', checkAsked: 'one', done: true });
    await fixture.pass(100);
    expect(actions()).toHaveLength(4);
    // Later drift is only reported again.
    differs = true;
    await ask('two');
    await untilDrift('True Drifted');
    await fixture.pass(100);
    expect(actions()).toHaveLength(5);
  });

  it('a new value on a node without drift starts one check and no apply', async () => {
    await configure(report);
    answerChecks(configured);
    await askHeal('one');
    await untilActions('apply', 'check');
    await untilDrift('False AsApplied');
    await fixture.pass(100);
    expect(actions()).toEqual(['apply', 'check']);
  });

  it('a value from before the first apply starts nothing more', async () => {
    await configure(report);
    await askHeal('one');
    await untilActions('apply', 'check');
    await fixture.apply('worker-1', { interfaces: [] });
    await untilActions('apply', 'check', 'apply');
    await fixture.pass(100);
    expect(actions()).toEqual(['apply', 'check', 'apply']);
  });

  it('a failing check is repeated until it ends, and then heals', async () => {
    await configure(report);
    let failures = 2;
    let differs = true;
    fixture.agents.answer = (request) => {
      if (request.action !== 'check') {
        differs = false;
        return configured(request);
      }
      failures -= 1;
      if (failures >= 0) return 'not a result';
      return differs ? drifted() : configured(request);
    };
    await askHeal('one');
    await untilActions('apply', 'check', 'check', 'check', 'apply');
    await fixture.untilReady('worker-1', good);
    await untilDrift('False AsApplied');
  });

  it('an agent without checks gets an apply instead', async () => {
    await configure(report);
    fixture.agents.answer = (request) =>
      request.action === 'check' ? JSON.stringify({ protocol: 9 }) : configured(request);
    await askHeal('one');
    await untilActions('apply', 'check', 'apply');
    const { status } = await fixture.untilReady('worker-1', good);
    expect(status?.applied).toMatchObject({ healAsked: 'one' });
  });
});
