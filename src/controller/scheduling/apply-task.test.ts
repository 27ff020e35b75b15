import { expect, it } from 'vitest';
import {
  agentTask,
  instanceId,
  node,
  nodeConfig,
} from '../../../test/fixtures/controller-samples.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { begun, ended, RecordAges } from '../jobs/applied.ts';
import { acceptSpec, contentHash } from '../jobs/request.ts';
import { machineOf } from '../objects/machine.ts';
import { type NodeConfig } from '../objects/stores.ts';
import type { Report } from '../status/report.ts';
import { createNextRun, type NextRunOptions } from './apply-task.ts';

const clock = createFakeClock();
const worker = node('worker-1', instanceId);
const contents = acceptSpec(nodeConfig());

/** Visits of one object for which no run is known, and what they tell. */
function visitsOf(config: NodeConfig) {
  const told: unknown[] = [];
  const nextRun = createNextRun({
    runner: { runsFor: () => [], nameOf: () => 'job-2' },
    dispatch: async () => Promise.resolve({ reason: 'WaitingForTurn', message: 'no room' }),
    rollout: { revisionOf: () => 'uid/1/image' },
    ages: new RecordAges(clock),
    clock,
  } as unknown as NextRunOptions);
  const tell = (situation: unknown) => told.push(situation);
  const report = { config, tell } as unknown as Report;
  const visit = () =>
    nextRun({ report, node: worker, action: 'apply', contents }, new AbortController().signal);
  return { told, visit };
}

it('comes back when the next attempt is due, counted from the end of the last one', async () => {
  const last = agentTask({ content: contentHash(worker, contents), machine: machineOf(worker) });
  const lost = { kind: 'failure', reason: 'ResultLost', message: '' } as const;
  const open = begun(last, 'job-1', { protocol: 2 }, clock.now());
  const applied = ended(open, lost, clock.now());
  const { told, visit } = visitsOf(nodeConfig({ status: { applied } }));
  const { requeueAfterMs: whole = 0 } = await visit();
  expect(whole).toBeGreaterThanOrEqual(800);
  expect(whole).toBeLessThanOrEqual(1_200);
  await clock.advance(300);
  expect(await visit()).toEqual({ done: false, requeueAfterMs: whole - 300 });
  expect(told).toEqual([{ kind: 'recorded' }, { kind: 'recorded' }]);
});

it('asks for room again after a while, should nobody wake it', async () => {
  const { told, visit } = visitsOf(nodeConfig());
  expect(await visit()).toEqual({ done: false, requeueAfterMs: 30_000 });
  expect(told).toMatchObject([{ kind: 'waiting', reason: 'WaitingForTurn', message: 'no room' }]);
});
