import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checksOn, good } from '../../../test/fixtures/checks.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { nicResult } from '../../../test/fixtures/controller-samples.ts';
import { type Answer, configured } from '../../../test/fixtures/scripted-agents.ts';

let bed: ControllerFixture;

beforeEach(async () => {
  bed = await ControllerFixture.start();
});

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

const { actions, answerChecks, ask, configure, driftOf, untilActions, untilDrift } = checksOn(
  () => bed,
);

/** What is on the host of a NIC that the spec has no more: rules that came back, for example. */
const left = nicResult(3, {
  mac: 'fa:16:3e:00:00:99',
  name: '',
  state: 'Failed',
  reason: 'Drifted',
  message: 'an apply would: ip rule del',
});
const taken = { ...left, state: 'Removed', reason: 'Removed', message: '' } as const;
const found: Answer = { outcome: 'partial', nics: [nicResult(0), left] };

async function nicsTold() {
  const { status } = await bed.get('worker-1');
  return status?.interfaceStatuses?.map(({ id, status: word, reason }) =>
    [id, word, reason].join(' '),
  );
}

const drifts = () => bed.events().filter((reason) => reason === 'Drifted').length;

describe('what is left of a NIC that the spec has no more', () => {
  it('is healed by one apply, is told once, and leaves nothing in the status', async () => {
    await configure();
    let differs = true;
    bed.agents.answer = (request) => {
      if (request.action === 'check') return differs ? found : configured(request);
      differs = false;
      return { nics: [nicResult(0), taken] };
    };
    await ask('now');
    await untilActions('apply', 'check', 'apply');
    await untilDrift('False AsApplied');
    await bed.untilReady('worker-1', good);
    await bed.pass(100);
    expect(actions()).toEqual(['apply', 'check', 'apply']);
    expect(await nicsTold()).toEqual(['0 Configured Configured']);
    expect(drifts()).toBe(1);
    await ask('again');
    await untilActions('apply', 'check', 'apply', 'check');
  });

  it('is told of where nothing is healed, and no more when it is gone', async () => {
    await configure({ 'drift-policy': 'report' });
    answerChecks(() => found);
    await ask('now');
    await untilDrift('True Drifted multinic3 Drifted: an apply would: ip rule del');
    await ask('again');
    await untilActions('apply', 'check', 'check');
    await bed.pass(30);
    expect(await driftOf()).toContain('multinic3 Drifted');
    expect(drifts()).toBe(1);
    expect(await nicsTold()).toEqual(['0 Configured Configured']);
    bed.agents.answer = configured;
    await ask('once more');
    await untilDrift('False AsApplied');
  });

  it('is tried again with pauses, and shown, while it cannot be taken away', async () => {
    await configure();
    bed.agents.answer = ({ action }) =>
      action === 'check'
        ? found
        : { outcome: 'partial', nics: [nicResult(0), { ...left, reason: 'ApplyFailed' }] };
    await ask('now');
    await bed.untilReady('worker-1', 'False ApplyFailed');
    expect(await nicsTold()).toEqual(['0 Configured Configured', '3 Failed ApplyFailed']);
    const before = actions().length;
    await bed.pass(300);
    expect(actions().length - before).toBeGreaterThan(2);
    expect(actions().length - before).toBeLessThan(7);
    bed.agents.answer = () => ({ nics: [nicResult(0), taken] });
    await bed.untilReady('worker-1', good);
    await untilDrift('False AsApplied');
    expect(await nicsTold()).toEqual(['0 Configured Configured']);
  });
});

it('tells what is wrong with the host where nothing is with a NIC', async () => {
  await configure({ 'drift-policy': 'report' });
  const warnings = ['the disk is full'];
  answerChecks(() => ({ outcome: 'partial', nics: [nicResult(0)], warnings }));
  await ask('now');
  await untilDrift('True Drifted the disk is full');
});

describe('a NIC that is wanted', () => {
  it('is not configured when an agent says that it removed it, and no more', async () => {
    await configure();
    const gone = nicResult(0, { name: '', state: 'Removed', reason: 'Removed' });
    bed.agents.answer = () => ({ nics: [gone] });
    await ask('now');
    await bed.untilReady('worker-1', 'False ApplyFailed');
    expect(await nicsTold()).toEqual(['0 Failed ApplyFailed']);
    expect(actions().slice(0, 3)).toEqual(['apply', 'check', 'apply']);
  });
});
