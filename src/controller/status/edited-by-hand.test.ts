import { afterEach, beforeEach, expect, it } from 'vitest';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry, nicResult } from '../../../test/fixtures/controller-samples.ts';
import { nodeConfigs } from '../objects/stores.ts';

const good = 'True AllInterfacesConfigured';
const ref = { namespace: 'multinic-system', name: 'worker-1' };
let fixture: ControllerFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
  await fixture.addNode('worker-1');
  fixture.run();
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

async function configure(): Promise<void> {
  await fixture.apply('worker-1', { interfaces: [entry(0)] });
  await fixture.untilReady('worker-1', good);
}

const edit = (status: object) => fixture.admin.patchStatus(nodeConfigs, ref, { status });

it.each(['Failed', 'Pending', 'InProgress'])(
  '[C13] a state %s set by hand is corrected without an agent run',
  async (state) => {
    await configure();
    await edit({ state });
    await fixture.until('worker-1', ({ status }) => status?.state === 'Configured');
    expect(fixture.agents.requests).toHaveLength(1);
  },
);

it('[C13] a state set by hand is corrected during a retry', async () => {
  const missing = nicResult(0, { state: 'Pending', reason: 'WaitingForNIC', name: '' });
  fixture.agents.answer = () => ({ outcome: 'partial', nics: [missing] });
  await fixture.apply('worker-1', { interfaces: [entry(0)] });
  await fixture.until('worker-1', ({ status }) => status?.state === 'Pending');
  await edit({ state: 'Configured' });
  await fixture.until('worker-1', ({ status }) => status?.state === 'Pending');
});

it.each([Number.MAX_SAFE_INTEGER, 1_000_001])(
  '[C13] a record with attempt %s is ignored and the object applied again',
  async (attempt) => {
    await configure();
    await edit({ applied: { attempt, done: false } });
    await fixture.eventually(
      () => fixture.agents.requests.length === 2,
      () => 'nothing is sent',
    );
    const { status } = await fixture.untilReady('worker-1', good);
    expect(status?.applied?.attempt).toBe(2);
  },
);
