import { afterEach, beforeEach, expect, it } from 'vitest';
import { checksOn, drifted, good } from '../../../test/fixtures/checks.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { configured } from '../../../test/fixtures/scripted-agents.ts';
import { jobs } from '../../kube/core-resources.ts';

let fixture: ControllerFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

const { actions, ask, configure, untilDrift } = checksOn(() => fixture);

/** Simulates drift and a successful repair, then deletes the Jobs, as after their TTL. */
async function healOnce(name: string): Promise<void> {
  const before = actions().length;
  let differs = true;
  fixture.agents.answer = (request) => {
    if (request.action !== 'check' || !differs) return configured(request);
    differs = false;
    return drifted();
  };
  await ask(name);
  await fixture.eventually(
    () => actions().length === before + 2,
    () => `no heal: ${actions().join()}`,
  );
  await untilDrift('False AsApplied');
  await fixture.untilReady('worker-1', good);
  for (const { metadata } of fixture.jobs()) {
    const ref = { namespace: 'multinic-agents', name: metadata.name };
    await fixture.admin.delete(jobs, ref, { propagationPolicy: 'Background' });
  }
  await fixture.eventually(
    () => fixture.jobs().length === 0,
    () => `${fixture.jobs().length} Jobs stay`,
  );
}

it('a failing repair counts attempts from the last success, even without its Job', async () => {
  await configure();
  await healOnce('first');
  expect((await fixture.get('worker-1')).status?.applied).toMatchObject({ attempt: 2, done: true });
  fixture.agents.answer = ({ action }) => (action === 'check' ? drifted() : 'not a result');
  await ask('second');
  const { status } = await fixture.untilReady('worker-1', 'False ResultLost');
  // The next attempt may have started.
  expect(status?.applied).toMatchObject({ worked: 2 });
});
