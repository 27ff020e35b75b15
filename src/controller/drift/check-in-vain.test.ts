import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checksOn, good } from '../../../test/fixtures/checks.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import {
  agentTask,
  instanceId,
  nicResult,
  node,
  nodeConfig,
} from '../../../test/fixtures/controller-samples.ts';
import { configured } from '../../../test/fixtures/scripted-agents.ts';
import { KubeError } from '../../kube/errors.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { begun } from '../jobs/applied.ts';
import { acceptSpec } from '../jobs/request.ts';
import { machineOf } from '../objects/machine.ts';
import type { Report } from '../status/report.ts';
import { type CheckOptions, createCheck } from './check-task.ts';

describe('a failing check', () => {
  let fixture: ControllerFixture;
  beforeEach(async () => {
    fixture = await ControllerFixture.start();
  });
  afterEach(async () => {
    await fixture[Symbol.asyncDispose]();
  });

  const on = checksOn(() => fixture);

  it('a failing check that is then refused shows only the refusal, while refused', async () => {
    const quota = on.refuseChecks();
    quota.isFull = false;
    await on.configure();
    on.answerChecks(() => 'not a result');
    await on.ask('now');
    await on.untilDrift('Unknown ResultLost');
    quota.isFull = true;
    await on.untilDrift('Unknown JobRefused');
    const shown = new Set<string>();
    for (let step = 0; step < 8; step++) {
      await fixture.clock.advance(5_000);
      await fixture.pass(2);
      shown.add((await on.driftOf()).split(':')[0] ?? '');
    }
    expect([...shown]).toEqual(['Unknown JobRefused exceeded quota']);
    on.answerChecks(configured);
    quota.isFull = false;
    await on.untilDrift('False AsApplied');
  });

  const message = "EACCES: permission denied, scandir '/host/var/lib/multinic/journal'";
  it.each([
    [
      'a failure for each NIC',
      'heal',
      { nics: [nicResult(0, { state: 'Failed', reason: 'ApplyFailed', message })] },
    ],
    [
      'a rollback after a stop signal',
      'report',
      { nics: [nicResult(0, { state: 'Failed', reason: 'RolledBack', message })] },
    ],
  ])(
    'a failing check whose agent reports %s is no drift, and leaves the object Ready',
    async (_, policy, said) => {
      await on.configure({ 'drift-policy': policy });
      on.answerChecks(() => ({ outcome: 'failed', ...said }));
      await on.ask('now');
      await on.untilDrift(`Unknown JobFailed ${message}`);
      expect(await fixture.ready('worker-1')).toBe(good);
      expect(on.actions()).toEqual(['apply', 'check']);
      on.answerChecks(configured);
      await on.untilDrift('False AsApplied');
    },
  );

  it("a check that reuses a removed run's name counts its own failure and backs off", async () => {
    on.dropJobsAtOnce();
    await on.configure();
    on.answerChecks(() => ({ waiting: 'ContainerCreating' }));
    await on.ask('now');
    await fixture.eventually(
      () => on.looks().length === 1,
      () => 'no look',
    );
    const [first] = on.looks();
    await fixture.clock.advance(121_000);
    await on.untilDrift('Unknown NotStarted');
    on.answerChecks(() => 'not a result');
    await on.untilDrift('Unknown ResultLost');
    expect(on.looking()).toBe(1);
    expect(on.looks().map(({ metadata }) => metadata.name)).toEqual([first?.metadata.name]);
  });
});

describe('a check that cannot start', () => {
  const clock = createFakeClock();
  const worker = node('worker-1', instanceId);
  const contents = acceptSpec(nodeConfig());
  const signal = new AbortController().signal;

  /** Returns a due check for a node, with the given dispatch. */
  function checkWith(dispatch: CheckOptions['dispatch']) {
    const last = agentTask({ machine: machineOf(worker) });
    const done = { ...begun(last, 'job-1', { protocol: 2 }, clock.now()), done: true };
    const annotations = { 'multinic.io/check': 'now' };
    const config = nodeConfig({ metadata: { annotations }, status: { applied: done } });
    const report = { config, tell: () => undefined } as unknown as Report;
    const check = createCheck({
      runner: { runsFor: () => [] },
      dispatch,
      clock,
      metrics: { count: () => undefined },
      facts: () => ({ networks: [], apiServer: undefined }),
      intervalMs: () => 3_600_000,
      policy: 'heal',
    } as unknown as CheckOptions);
    const run = () => check.checkNode({ report, node: worker, action: 'apply', contents }, signal);
    return { check, run };
  }

  it('a check without free capacity retries after 30 s as a fallback', async () => {
    const { run } = checkWith(async () =>
      Promise.resolve({ reason: 'WaitingForTurn', message: 'no room' } as const),
    );
    expect(await run()).toEqual({ requeueAfterMs: 30_000 });
  });

  it('a refused check backs off, and an object restored from a backup is checked immediately', async () => {
    let dispatched = 0;
    const { check, run } = checkWith(() => {
      dispatched += 1;
      return Promise.reject(new KubeError({ status: 403, reason: 'Forbidden', message: 'full' }));
    });
    await run();
    await run();
    expect(dispatched).toBe(1);
    check.forget('multinic-system/worker-1');
    await run();
    expect(dispatched).toBe(2);
  });
});
