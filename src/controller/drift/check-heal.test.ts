import { afterEach, beforeEach, expect, it } from 'vitest';
import { checksOn, drifted, good } from '../../../test/fixtures/checks.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { configured } from '../../../test/fixtures/scripted-agents.ts';
import { jobs } from '../../kube/core-resources.ts';

let bed: ControllerFixture;

beforeEach(async () => {
  bed = await ControllerFixture.start();
});

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

const { actions, ask, configure, untilDrift } = checksOn(() => bed);

/** Lets the node differ and be brought back; its Jobs are gone then, as those are whose time is over. */
async function healOnce(name: string): Promise<void> {
  const before = actions().length;
  let differs = true;
  bed.agents.answer = (request) => {
    if (request.action !== 'check' || !differs) return configured(request);
    differs = false;
    return drifted();
  };
  await ask(name);
  await bed.eventually(
    () => actions().length === before + 2,
    () => `no heal: ${actions().join()}`,
  );
  await untilDrift('False AsApplied');
  await bed.untilReady('worker-1', good);
  for (const { metadata } of bed.jobs()) {
    const ref = { namespace: 'multinic-agents', name: metadata.name };
    await bed.admin.delete(jobs, ref, { propagationPolicy: 'Background' });
  }
  await bed.eventually(
    () => bed.jobs().length === 0,
    () => `${bed.jobs().length} Jobs stay`,
  );
}

it('a heal that fails counts from the last one that worked, of which no Job is left', async () => {
  await configure();
  await healOnce('first');
  expect((await bed.get('worker-1')).status?.applied).toMatchObject({ attempt: 2, done: true });
  bed.agents.answer = ({ action }) => (action === 'check' ? drifted() : 'not a result');
  await ask('second');
  const { status } = await bed.untilReady('worker-1', 'False ResultLost');
  // The next attempt may have begun.
  expect(status?.applied).toMatchObject({ worked: 2 });
});
