import { afterEach, beforeEach, expect, it } from 'vitest';
import { checksOn, good } from '../../../test/fixtures/checks.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry, nicResult } from '../../../test/fixtures/controller-samples.ts';
import type { NicResult } from '../../api/job.ts';

let fixture: ControllerFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

const { answerChecks, configure, boot, ask, looking, driftOf, untilDrift } = checksOn(
  () => fixture,
);

/** Toggles the Node's Ready condition every 40 seconds. */
async function flap(times: number): Promise<void> {
  for (let time = 0; time < times; time++) {
    for (const ready of ['Unknown', 'True'] as const) {
      await fixture.setReady('worker-1', ready);
      await fixture.clock.advance(19_000);
      await fixture.pass(10);
    }
  }
}

it('[C10] a Node that becomes Ready 30 times in 20 minutes is checked at most three times', async () => {
  await configure();
  await flap(30);
  expect(looking()).toBeGreaterThanOrEqual(2);
  expect(looking()).toBeLessThanOrEqual(3);
  expect(await fixture.ready('worker-1')).toBe(good);
});

it('[C10] a flapping Node with failing checks is checked at most six times', async () => {
  await configure();
  answerChecks(() => 'not a result');
  await flap(12);
  // Failing checks for one event repeat with growing delays.
  expect(looking()).toBeLessThanOrEqual(6);
});

it('[C10] a Node that flapped is checked again after ten minutes, and immediately after a boot', async () => {
  await configure();
  await flap(2);
  expect(looking()).toBe(1);
  await fixture.clock.advance(601_000);
  await fixture.pass(20);
  expect(looking()).toBe(2);
  await boot();
  await fixture.pass(20);
  expect(looking()).toBe(3);
});

function drifted(count: number): NicResult[] {
  const message = 'an apply would: '.padEnd(120, 'x');
  return Array.from({ length: count }, (_, index) =>
    nicResult(index, { state: 'Failed', reason: 'Drifted', message }),
  );
}

async function firstNic() {
  const { status } = await fixture.get('worker-1');
  return status?.interfaceStatuses?.[0] ?? {};
}

it('[P3] a check sets lastChecked and reason Drifted on each NIC, until the drift is gone', async () => {
  await configure({ 'drift-policy': 'report' });
  const before = await firstNic();
  answerChecks(() => ({ outcome: 'failed', nics: drifted(1) }));
  await fixture.pass(50);
  await ask('one');
  await untilDrift('True Drifted');
  const found = await firstNic();
  expect(found).toMatchObject({ status: 'Configured', reason: 'Drifted' });
  expect(found.message).toContain('an apply would');
  expect(found.lastChecked).not.toBe(before.lastChecked);
  expect(found.lastConfigured).toBe(before.lastConfigured);
  answerChecks(() => ({ nics: [nicResult(0)] }));
  await ask('two');
  await untilDrift('False AsApplied');
  const healed = await firstNic();
  expect(healed).toMatchObject({ status: 'Configured', reason: 'Configured' });
  expect(await fixture.ready('worker-1')).toBe(good);
});

it('[P3] the condition Drifted names all ten NICs', async () => {
  await fixture.addNode('worker-1');
  fixture.run({ 'drift-policy': 'report' });
  const interfaces = Array.from({ length: 10 }, (_, index) => entry(index));
  await fixture.apply('worker-1', { interfaces });
  await fixture.untilReady('worker-1', good);
  answerChecks(() => ({ outcome: 'failed', nics: drifted(10) }));
  await ask('one');
  await untilDrift('True Drifted');
  const text = await driftOf();
  for (const { name } of interfaces) expect(text).toContain(`${name} Drifted`);
});
