import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checksOn, good } from '../../../test/fixtures/checks.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { nicResult } from '../../../test/fixtures/controller-samples.ts';
import { type Answer, configured } from '../../../test/fixtures/scripted-agents.ts';

let fixture: ControllerFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

const { actions, answerChecks, ask, configure, driftOf, untilActions, untilDrift } = checksOn(
  () => fixture,
);

/** Leftovers on the host from a NIC no longer in the spec, for example restored rules. */
const left = nicResult(3, {
  mac: 'fa:16:3e:00:00:99',
  name: '',
  state: 'Failed',
  reason: 'Drifted',
  message: 'an apply would: ip rule del',
});
const taken = { ...left, state: 'Removed', reason: 'Removed', message: '' } as const;
const found: Answer = { outcome: 'partial', nics: [nicResult(0), left] };

async function shownNics() {
  const { status } = await fixture.get('worker-1');
  return status?.interfaceStatuses?.map(({ id, status: word, reason }) =>
    [id, word, reason].join(' '),
  );
}

const drifts = () => fixture.events().filter((reason) => reason === 'Drifted').length;

describe('leftovers from a NIC no longer in the spec', () => {
  it('with drift policy `heal`, a leftover is removed by one apply, with one event and no status entry', async () => {
    await configure();
    let differs = true;
    fixture.agents.answer = (request) => {
      if (request.action === 'check') return differs ? found : configured(request);
      differs = false;
      return { nics: [nicResult(0), taken] };
    };
    await ask('now');
    await untilActions('apply', 'check', 'apply');
    await untilDrift('False AsApplied');
    await fixture.untilReady('worker-1', good);
    await fixture.pass(100);
    expect(actions()).toEqual(['apply', 'check', 'apply']);
    expect(await shownNics()).toEqual(['0 Configured Configured']);
    expect(drifts()).toBe(1);
    await ask('again');
    await untilActions('apply', 'check', 'apply', 'check');
  });

  it('with drift policy `report`, a leftover NIC is reported until removed', async () => {
    await configure({ 'drift-policy': 'report' });
    answerChecks(() => found);
    await ask('now');
    await untilDrift('True Drifted multinic3 Drifted: an apply would: ip rule del');
    await ask('again');
    await untilActions('apply', 'check', 'check');
    await fixture.pass(30);
    expect(await driftOf()).toContain('multinic3 Drifted');
    expect(drifts()).toBe(1);
    expect(await shownNics()).toEqual(['0 Configured Configured']);
    fixture.agents.answer = configured;
    await ask('once more');
    await untilDrift('False AsApplied');
  });

  it('a leftover that cannot be removed is retried with backoff and shown in the status', async () => {
    await configure();
    fixture.agents.answer = ({ action }) =>
      action === 'check'
        ? found
        : { outcome: 'partial', nics: [nicResult(0), { ...left, reason: 'ApplyFailed' }] };
    await ask('now');
    await fixture.untilReady('worker-1', 'False ApplyFailed');
    expect(await shownNics()).toEqual(['0 Configured Configured', '3 Failed ApplyFailed']);
    const before = actions().length;
    await fixture.pass(300);
    expect(actions().length - before).toBeGreaterThan(2);
    expect(actions().length - before).toBeLessThan(7);
    fixture.agents.answer = () => ({ nics: [nicResult(0), taken] });
    await fixture.untilReady('worker-1', good);
    await untilDrift('False AsApplied');
    expect(await shownNics()).toEqual(['0 Configured Configured']);
  });
});

it('drift policy `report` shows a host warning when all NICs are fine', async () => {
  await configure({ 'drift-policy': 'report' });
  const warnings = ['the disk is full'];
  answerChecks(() => ({ outcome: 'partial', nics: [nicResult(0)], warnings }));
  await ask('now');
  await untilDrift('True Drifted the disk is full');
});

describe('a requested NIC', () => {
  it('a requested NIC reported as Removed by the agent counts as ApplyFailed', async () => {
    await configure();
    const gone = nicResult(0, { name: '', state: 'Removed', reason: 'Removed' });
    fixture.agents.answer = () => ({ nics: [gone] });
    await ask('now');
    await fixture.untilReady('worker-1', 'False ApplyFailed');
    expect(await shownNics()).toEqual(['0 Failed ApplyFailed']);
    expect(actions().slice(0, 3)).toEqual(['apply', 'check', 'apply']);
  });
});
