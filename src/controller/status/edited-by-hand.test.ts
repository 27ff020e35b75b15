import { afterEach, beforeEach, expect, it } from 'vitest';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry, nicResult } from '../../../test/fixtures/controller-samples.ts';
import { nodeConfigs } from '../objects/stores.ts';

const good = 'True AllInterfacesConfigured';
const ref = { namespace: 'multinic-system', name: 'worker-1' };
let bed: ControllerFixture;

beforeEach(async () => {
  bed = await ControllerFixture.start();
  await bed.addNode('worker-1');
  bed.run();
});

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

async function configure(): Promise<void> {
  await bed.apply('worker-1', { interfaces: [entry(0)] });
  await bed.untilReady('worker-1', good);
}

const edit = (status: object) => bed.admin.patchStatus(nodeConfigs, ref, { status });

it.each(['Failed', 'Pending', 'InProgress'])(
  '[C13] a state %s that was set by hand heals without an agent',
  async (state) => {
    await configure();
    await edit({ state });
    await bed.until('worker-1', ({ status }) => status?.state === 'Configured');
    expect(bed.agents.requests).toHaveLength(1);
  },
);

it('[C13] a state set by hand heals while an attempt is repeated', async () => {
  const missing = nicResult(0, { state: 'Pending', reason: 'WaitingForNIC', name: '' });
  bed.agents.answer = () => ({ outcome: 'partial', nics: [missing] });
  await bed.apply('worker-1', { interfaces: [entry(0)] });
  await bed.until('worker-1', ({ status }) => status?.state === 'Pending');
  await edit({ state: 'Configured' });
  await bed.until('worker-1', ({ status }) => status?.state === 'Pending');
});

it.each([Number.MAX_SAFE_INTEGER, 1_000_001])(
  '[C13] a record with attempt %s is done again as if there were none',
  async (attempt) => {
    await configure();
    await edit({ applied: { attempt, done: false } });
    await bed.eventually(
      () => bed.agents.requests.length === 2,
      () => 'nothing is sent',
    );
    const { status } = await bed.untilReady('worker-1', good);
    expect(status?.applied?.attempt).toBe(2);
  },
);
