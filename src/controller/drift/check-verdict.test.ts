import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checksOn, drifted, good } from '../../../test/fixtures/checks.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry, nicResult } from '../../../test/fixtures/controller-samples.ts';
import { type Answer, configured } from '../../../test/fixtures/scripted-agents.ts';

let fixture: ControllerFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

const { actions, answerChecks, ask, configure, untilActions, untilDrift } = checksOn(() => fixture);

const verdict = {
  state: 'Failed',
  reason: 'PathBypassed',
  message: 'rule 9000 from all lookup 254 sends packets by eth0',
  code: 'RuleToOtherLink',
  args: 'priority=9000 table=254',
} as const;
const bypassed = (): Answer => ({ outcome: 'failed', nics: [nicResult(0, verdict)] });

async function shownNics() {
  const { status } = await fixture.get('worker-1');
  return status?.interfaceStatuses?.map(({ status: state, reason, code, args }) => {
    return [state, reason, code, args].join(' ');
  });
}

describe('check verdict beyond an apply', () => {
  it.each(['heal', 'report'])(
    'the NIC fails without an apply and without drift with policy %s, until a check passes',
    async (policy) => {
      await configure({ 'drift-policy': policy });
      answerChecks(bypassed);
      await ask('one');
      await fixture.untilReady('worker-1', 'False PathBypassed');
      await untilDrift('False AsApplied');
      await fixture.pass(100);
      expect(actions()).toEqual(['apply', 'check']);
      expect(await shownNics()).toEqual([
        'Failed PathBypassed RuleToOtherLink priority=9000 table=254',
      ]);
      const { status } = await fixture.get('worker-1');
      expect(status).toMatchObject({ state: 'Failed', applied: { done: true } });
      expect(status?.applied).not.toHaveProperty('rollout', 'failed');
      const types = status?.conditions?.map(({ type, status: is }) => `${type} ${is}`);
      expect(types).toContain('Stalled True');
      expect(types).toContain('Applied True');
      answerChecks(configured);
      await ask('two');
      await fixture.untilReady('worker-1', good);
      expect(await shownNics()).toEqual(['Configured Configured  ']);
      expect(actions()).toEqual(['apply', 'check', 'check']);
    },
  );

  it('a NIC that answers no ARP fails without an apply, until a check passes', async () => {
    await configure();
    const silent = { ...verdict, reason: 'VerifyFailed', code: 'ArpOff', args: 'link=multinic0' };
    answerChecks(() => ({ outcome: 'failed', nics: [nicResult(0, silent as typeof verdict)] }));
    await ask('one');
    await fixture.untilReady('worker-1', 'False VerifyFailed');
    await fixture.pass(50);
    expect(actions()).toEqual(['apply', 'check']);
    expect(await shownNics()).toEqual(['Failed VerifyFailed ArpOff link=multinic0']);
    const { status } = await fixture.get('worker-1');
    const types = status?.conditions?.map(({ type, status: is }) => `${type} ${is}`);
    expect(types).toContain('Stalled True');
    expect(types).not.toContain('Reconciling True');
    answerChecks(configured);
    await ask('two');
    await fixture.untilReady('worker-1', good);
    expect(actions()).toEqual(['apply', 'check', 'check']);
  });

  it('a second check with the same verdict changes nothing', async () => {
    await configure();
    answerChecks(bypassed);
    await ask('one');
    await fixture.untilReady('worker-1', 'False PathBypassed');
    await ask('two');
    await untilActions('apply', 'check', 'check');
    await fixture.pass(50);
    expect(await fixture.ready('worker-1')).toBe('False PathBypassed');
    expect(actions()).toEqual(['apply', 'check', 'check']);
  });

  it('drift of the NIC after the verdict is healed', async () => {
    await configure();
    answerChecks(bypassed);
    await ask('one');
    await fixture.untilReady('worker-1', 'False PathBypassed');
    answerChecks(drifted);
    await ask('two');
    await untilActions('apply', 'check', 'check', 'apply');
    await fixture.untilReady('worker-1', good);
  });
});

it('an apply with a verdict keeps the NIC among the delivered NICs', async () => {
  await fixture.addNode('worker-1');
  fixture.agents.answer = bypassed;
  fixture.run();
  await fixture.apply('worker-1', { interfaces: [entry(0)] });
  await fixture.untilReady('worker-1', 'False PathBypassed');
  const { status } = await fixture.get('worker-1');
  expect(status?.applied).toMatchObject({ done: false, macs: [nicResult(0).mac] });
});
