import { expect, it } from 'vitest';
import { agentTask, jobResult, nicResult } from '../../../test/fixtures/controller-samples.ts';
import type { JobResult } from '../../api/job.ts';
import { adoption } from '../../api/shared-content.ts';
import { begun, ended, type RolloutPhase } from './applied.ts';
import type { RunOutcome } from './runner.ts';

const now = new Date('2026-01-01T00:00:00Z');
const before = 'fa:16:3e:00:00:00';

function result(change: Partial<JobResult>): RunOutcome {
  return { kind: 'result', result: jobResult(change) };
}

const failure: RunOutcome = { kind: 'failure', reason: 'ResultLost', message: '' };
const fails = { state: 'Failed', reason: 'ApplyFailed' } as const;

it.each<[string, RolloutPhase | undefined, RunOutcome, RolloutPhase | undefined]>([
  ['a run that the budget does not count', undefined, failure, undefined],
  ['a run without a result', 'started', failure, 'failed'],
  ['a run that is ok', 'started', result({}), 'done'],
  [
    'a failed NIC configured before',
    'started',
    result({ outcome: 'failed', nics: [nicResult(0, fails)] }),
    'failed',
  ],
  [
    'a failed new NIC',
    'started',
    result({ outcome: 'partial', nics: [nicResult(0), nicResult(1, fails)] }),
    'done',
  ],
  ['a failed host without a failed NIC', 'started', result({ outcome: 'failed' }), 'failed'],
  ['a retry that is ok', 'failed', result({}), 'done'],
  ['a retry that fails', 'failed', failure, 'failed'],
  ['a failed attach on a completed node', 'done', failure, 'done'],
  [
    'an agent that detects another network manager',
    'started',
    result({
      outcome: 'failed',
      family: 'keyfile',
      nics: [nicResult(0, { state: 'Failed', reason: 'WrongFamily' })],
    }),
    'started',
  ],
])('the rollout phase of a record after %s', (_what, rollout, verdict, expected) => {
  const record = begun(agentTask(), 'job', { protocol: 2, macs: [before], rollout }, now);
  expect(ended(record, verdict, now).rollout).toBe(expected);
});

it('the rollout phase is done after a failed first apply, because no NIC existed before', () => {
  const record = begun(agentTask(), 'job', { protocol: 2, macs: [], rollout: 'started' }, now);
  expect(ended(record, failure, now).rollout).toBe('done');
});

const setting = { key: 'a', value: '1', at: '2026-01-01T00:00:00Z', macs: [before] };

const atBoot = { state: 'Pending', reason: 'AdoptedAtBoot' } as const;

it.each<[string, RolloutPhase, RunOutcome, RolloutPhase | undefined]>([
  [
    'a NIC adopted at the next boot',
    'started',
    result({ outcome: 'partial', nics: [nicResult(0, atBoot)] }),
    'done',
  ],
  ['a run without a result', 'started', failure, 'failed'],
  [
    'its failed NIC',
    'started',
    result({ outcome: 'failed', nics: [nicResult(0, fails)] }),
    'failed',
  ],
  [
    'a failed NIC with another setting',
    'started',
    result({ outcome: 'partial', nics: [nicResult(0), nicResult(1, fails)] }),
    'done',
  ],
  ['a failed host', 'started', result({ outcome: 'failed' }), 'failed'],
  ['a run without its NIC', 'started', result({ nics: [nicResult(1)] }), undefined],
  ['a failure and a run without its NIC', 'failed', result({ nics: [nicResult(1)] }), 'failed'],
  ['a failure and a run that is ok', 'failed', result({}), 'done'],
  ['success and a failed run', 'done', failure, 'done'],
])('the rollout phase of a setting after %s', (_what, rollout, verdict, expected) => {
  const terms = { protocol: 2, macs: [before], settings: [{ ...setting, rollout }] } as const;
  const { settings = [] } = ended(begun(agentTask(), 'job', terms, now), verdict, now);
  expect(settings.map((one) => one.rollout)).toEqual(expected === undefined ? [] : [expected]);
});

const refused = { state: 'Failed', reason: 'NICInUse' } as const;
const found = nicResult(1).mac;

it.each<[string, RolloutPhase, RunOutcome, readonly [RolloutPhase, macs?: readonly string[]]]>([
  ['a run without a result', 'started', failure, ['failed', [before, found]]],
  ['a failed host', 'started', result({ outcome: 'failed' }), ['failed', [before, found]]],
  [
    'a NIC failed after a change',
    'started',
    result({ outcome: 'partial', nics: [nicResult(0), nicResult(1, fails)] }),
    ['failed', [found]],
  ],
  [
    'a refused NIC, configured before',
    'started',
    result({ outcome: 'partial', nics: [nicResult(0, refused), nicResult(1)] }),
    ['failed', [before]],
  ],
  [
    'a refused NIC',
    'started',
    result({ outcome: 'partial', nics: [nicResult(0), nicResult(1, refused)] }),
    ['done'],
  ],
  [
    'NICs adopted at the next boot',
    'started',
    result({ outcome: 'partial', nics: [nicResult(0, atBoot), nicResult(1, atBoot)] }),
    ['done'],
  ],
  ['a failure and a run without its failed NIC', 'failed', result({}), ['failed', [found]]],
])('the rollout phase of adoption after %s', (_what, rollout, verdict, [phase, macs]) => {
  const run = { ...adoption, at: '2026-01-01T00:00:00Z', macs: [before, found], rollout };
  const nics = { [before]: 'a', [found]: rollout === 'failed' ? 'b!' : 'b' };
  const terms = { protocol: 6, macs: [before], nics, settings: [run] } as const;
  const { settings = [] } = ended(begun(agentTask(), 'job', terms, now), verdict, now);
  expect(settings.map((one) => [one.rollout, one.macs])).toEqual([[phase, macs]]);
});

it.each<[string, RunOutcome, RolloutPhase | undefined]>([
  ['alone', result({ outcome: 'failed', nics: [nicResult(0, fails)] }), undefined],
  [
    'beside a NIC that is ok',
    result({ outcome: 'partial', nics: [nicResult(0, fails), nicResult(1)] }),
    'done',
  ],
  [
    'beside a failed NIC',
    result({ outcome: 'failed', nics: [nicResult(0, fails), nicResult(1, fails)] }),
    'failed',
  ],
  ['without a result', failure, 'failed'],
])(
  'the rollout phase of the source after a NIC fails with a new setting %s',
  (_how, verdict, expected) => {
    const macs = [before, nicResult(1).mac];
    const settings = [{ ...setting, rollout: 'started' as const }];
    const terms = { protocol: 2, macs, settings, rollout: 'started' } as const;
    expect(ended(begun(agentTask(), 'job', terms, now), verdict, now).rollout).toBe(expected);
  },
);

it.each<[string, Partial<JobResult>, RolloutPhase]>([
  ['fails while the failed NIC waits', { nics: [nicResult(1)] }, 'failed'],
  [
    'is done although an attached port has no NIC yet',
    {
      outcome: 'partial',
      nics: [nicResult(0), nicResult(1, { state: 'Pending', reason: 'WaitingForNIC' })],
    },
    'done',
  ],
])('the rollout phase of a failed record %s', (_what, change, expected) => {
  const nics = { [before]: 'hash!', [nicResult(1).mac]: 'hash!' };
  const terms = { protocol: 2, macs: [before], nics, rollout: 'failed' } as const;
  expect(ended(begun(agentTask(), 'job', terms, now), result(change), now).rollout).toBe(expected);
});
