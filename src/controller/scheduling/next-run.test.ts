import { expect, it } from 'vitest';
import {
  agentTask,
  instanceId,
  node,
  nodeConfig,
} from '../../../test/fixtures/controller-samples.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { begun, ended } from '../jobs/applied.ts';
import { RecordAges } from '../jobs/record-ages.ts';
import { acceptSpec, contentHash } from '../jobs/request.ts';
import { machineOf } from '../objects/machine.ts';
import { type NodeConfig } from '../objects/stores.ts';
import type { Report } from '../status/report.ts';
import { createNextRun, type NextRunOptions } from './next-run.ts';

const clock = createFakeClock();
const worker = node('worker-1', instanceId);
const contents = acceptSpec(nodeConfig());

/** Returns a function that runs nextRun for an object without open runs, and the reported phases. */
function visitsOf(config: NodeConfig) {
  const phases: unknown[] = [];
  const nextRun = createNextRun({
    runner: { runsFor: () => [], nameOf: () => 'job-2' },
    dispatch: async () => Promise.resolve({ reason: 'WaitingForTurn', message: 'no room' }),
    rollout: { changeOf: () => ({ base: undefined, settings: [] }) },
    ages: new RecordAges(clock),
    clock,
  } as unknown as NextRunOptions);
  const tell = (situation: unknown) => phases.push(situation);
  const report = { config, tell } as unknown as Report;
  const visit = () =>
    nextRun({ report, node: worker, action: 'apply', contents }, new AbortController().signal);
  return { phases, visit };
}

it('nextRun requeues when the next attempt is due, counted from the end of the last attempt', async () => {
  const last = agentTask({ content: contentHash(worker, contents), machine: machineOf(worker) });
  const lost = { kind: 'failure', reason: 'ResultLost', message: '' } as const;
  const open = begun(last, 'job-1', { protocol: 2 }, clock.now());
  const applied = ended(open, lost, clock.now());
  const { phases, visit } = visitsOf(nodeConfig({ status: { applied } }));
  const { requeueAfterMs: whole = 0 } = await visit();
  expect(whole).toBeGreaterThanOrEqual(800);
  expect(whole).toBeLessThanOrEqual(1_200);
  await clock.advance(300);
  expect(await visit()).toEqual({ done: false, requeueAfterMs: whole - 300 });
  expect(phases).toEqual([{ kind: 'recorded' }, { kind: 'recorded' }]);
});

it('nextRun requeues a waiting object after 30 s as a fallback', async () => {
  const { phases, visit } = visitsOf(nodeConfig());
  expect(await visit()).toEqual({ done: false, requeueAfterMs: 30_000 });
  expect(phases).toMatchObject([{ kind: 'waiting', reason: 'WaitingForTurn', message: 'no room' }]);
});
