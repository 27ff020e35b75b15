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

const { actions, answerChecks, ask, configure, looking, looks, untilDrift } = checksOn(
  () => fixture,
);

/** Passes time in minutes, with several steps of the controller per minute. */
async function minutes(count: number): Promise<void> {
  for (let minute = 0; minute < count; minute++) await fixture.pass(6, 10_000);
}

const applied = async () => (await fixture.get('worker-1')).status?.applied;

const statusWrites = () =>
  fixture.writes().filter((write) => write === 'patch multinicnodeconfigs status').length;

describe('checks with an unchanged answer', () => {
  it('a node is checked every 15 minutes, and checkedAt is written at most every six hours', async () => {
    await configure();
    await minutes(20);
    expect(looking()).toBe(1);
    const first = (await applied())?.checkedAt;
    expect(first).toBeDefined();
    const before = statusWrites();
    await minutes(120);
    expect(looking()).toBeGreaterThanOrEqual(6);
    expect(looking()).toBeLessThanOrEqual(12);
    expect((await applied())?.checkedAt).toBe(first);
    expect(statusWrites()).toBe(before);
    await minutes(260);
    expect((await applied())?.checkedAt).not.toBe(first);
    expect(statusWrites() - before).toBeLessThanOrEqual(2);
    expect(await fixture.ready('worker-1')).toBe(good);
  });

  it('the Job of a repeated check is deleted once the result is read', async () => {
    await configure();
    await minutes(20);
    await minutes(30);
    expect(looking()).toBeGreaterThanOrEqual(2);
    expect(looks().length).toBeLessThanOrEqual(1);
  });

  it('drift after repeated checks is reported and healed', async () => {
    await configure();
    await minutes(50);
    let differs = true;
    fixture.agents.answer = (request) => {
      if (request.action === 'check' && differs) return drifted();
      differs = false;
      return configured(request);
    };
    const before = actions().length;
    await minutes(20);
    expect(actions().slice(before, before + 2)).toEqual(['check', 'apply']);
    await untilDrift('False AsApplied');
  });

  it('with drift policy `report`, unchanged drift is written once, and its end at once', async () => {
    await configure({ 'drift-policy': 'report' });
    answerChecks(drifted);
    await minutes(20);
    await untilDrift('True Drifted');
    const before = statusWrites();
    await minutes(60);
    expect(looking()).toBeGreaterThanOrEqual(3);
    expect(statusWrites()).toBe(before);
    answerChecks(configured);
    await minutes(20);
    await untilDrift('False AsApplied');
  });

  it('a check on request is recorded although its answer repeats', async () => {
    await configure();
    await minutes(50);
    await ask('now');
    await fixture.eventually(
      async () => (await applied())?.checkAsked === 'now',
      () => 'the request is not recorded',
    );
  });

  it('a failed check between equal answers is reported, and its end too', async () => {
    await configure();
    await minutes(50);
    answerChecks(() => 'not a result');
    await minutes(20);
    await untilDrift('Unknown ResultLost');
    answerChecks(configured);
    await untilDrift('False AsApplied');
  });
});
