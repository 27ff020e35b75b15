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
import { begun, RecordAges } from '../jobs/applied.ts';
import { acceptSpec } from '../jobs/request.ts';
import { machineOf } from '../objects/machine.ts';
import type { Report } from '../status/report.ts';
import { type CheckOptions, createCheck } from './check-task.ts';

describe('a look that comes to nothing', () => {
  let bed: ControllerFixture;
  beforeEach(async () => {
    bed = await ControllerFixture.start();
  });
  afterEach(async () => {
    await bed[Symbol.asyncDispose]();
  });

  const on = checksOn(() => bed);

  it('and is refused then: the refusal is told for as long as it lasts, and the look before not again', async () => {
    const quota = on.refuseChecks();
    quota.isFull = false;
    await on.configure();
    on.answerChecks(() => 'not a result');
    await on.ask('now');
    await on.untilDrift('Unknown ResultLost');
    quota.isFull = true;
    await on.untilDrift('Unknown JobRefused');
    const told = new Set<string>();
    for (let step = 0; step < 8; step++) {
      await bed.clock.advance(5_000);
      await bed.pass(2);
      told.add((await on.driftOf()).split(':')[0] ?? '');
    }
    expect([...told]).toEqual(['Unknown JobRefused exceeded quota']);
    on.answerChecks(configured);
    quota.isFull = false;
    await on.untilDrift('False AsApplied');
  });

  const message = "EACCES: permission denied, scandir '/host/var/lib/multinic/journal'";
  it.each([
    [
      'of each NIC',
      'heal',
      { nics: [nicResult(0, { state: 'Failed', reason: 'ApplyFailed', message })] },
    ],
    [
      'as it was told to stop',
      'report',
      { nics: [nicResult(0, { state: 'Failed', reason: 'RolledBack', message })] },
    ],
  ])(
    'as its agent says %s: nobody takes that for what the node is like',
    async (_, policy, said) => {
      await on.configure({ 'drift-policy': policy });
      on.answerChecks(() => ({ outcome: 'failed', ...said }));
      await on.ask('now');
      await on.untilDrift(`Unknown JobFailed ${message}`);
      expect(await bed.ready('worker-1')).toBe(good);
      expect(on.actions()).toEqual(['apply', 'check']);
      on.answerChecks(configured);
      await on.untilDrift('False AsApplied');
    },
  );

  it('under the name of one that was withdrawn: its end counts, and the next one waits', async () => {
    on.dropJobsAtOnce();
    await on.configure();
    on.answerChecks(() => ({ waiting: 'ContainerCreating' }));
    await on.ask('now');
    await bed.eventually(
      () => on.looks().length === 1,
      () => 'no look',
    );
    const [first] = on.looks();
    await bed.clock.advance(121_000);
    await on.untilDrift('Unknown NotStarted');
    on.answerChecks(() => 'not a result');
    await on.untilDrift('Unknown ResultLost');
    expect(on.looking()).toBe(1);
    expect(on.looks().map(({ metadata }) => metadata.name)).toEqual([first?.metadata.name]);
  });
});

describe('a look that cannot begin', () => {
  const clock = createFakeClock();
  const worker = node('worker-1', instanceId);
  const contents = acceptSpec(nodeConfig());
  const signal = new AbortController().signal;

  /** Looks at a node for which one is due, whoever decides whether they may begin. */
  function looksOf(dispatch: CheckOptions['dispatch']) {
    const last = agentTask({ machine: machineOf(worker) });
    const done = { ...begun(last, 'job-1', { protocol: 2 }, clock.now()), done: true };
    const annotations = { 'multinic.io/check': 'now' };
    const config = nodeConfig({ metadata: { annotations }, status: { applied: done } });
    const report = { config, tell: () => undefined } as unknown as Report;
    const check = createCheck({
      runner: { runsFor: () => [] },
      dispatch,
      ages: new RecordAges(clock),
      clock,
      metrics: { count: () => undefined },
      intervalMs: 3_600_000,
      policy: 'heal',
    } as unknown as CheckOptions);
    const look = () => check.look({ report, node: worker, action: 'apply', contents }, signal);
    return { check, look };
  }

  it('asks for room again after a while, should nobody wake it', async () => {
    const { look } = looksOf(async () =>
      Promise.resolve({ reason: 'WaitingForTurn', message: 'no room' } as const),
    );
    expect(await look()).toEqual({ requeueAfterMs: 30_000 });
  });

  it('of an object that is gone and comes back as it was, out of a backup, is tried at once', async () => {
    let asked = 0;
    const { check, look } = looksOf(() => {
      asked += 1;
      return Promise.reject(new KubeError({ status: 403, reason: 'Forbidden', message: 'full' }));
    });
    await look();
    await look();
    expect(asked).toBe(1);
    check.forget('multinic-system/worker-1');
    await look();
    expect(asked).toBe(2);
  });
});
