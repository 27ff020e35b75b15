import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jobResult, nicResult, order } from '../../test/beds/controller-samples.ts';
import type { NodeConfigStatus } from '../api/multinicnodeconfig.ts';
import { reasons } from '../api/reasons.ts';
import { decide, type Wish } from './decide.ts';
import { pauseMs } from './retry.ts';
import type { Phase, Run, Verdict } from './runner.ts';

const now = new Date('2026-01-01T12:00:00Z');
const wish: Wish = { generation: 1, action: 'apply', content: 'content-a' };
const ok: Verdict = { kind: 'result', result: jobResult() };
const lost: Verdict = { kind: 'failure', reason: 'ResultLost', message: '' };

function run(change: Partial<Run> = {}, verdict?: Verdict, endedSecondsAgo = 0): Run {
  const at = new Date(now.getTime() - endedSecondsAgo * 1000);
  const made = order(change);
  return {
    ...made,
    name: `run-${made.generation}-${made.attempt}`,
    phase: verdict ? 'ended' : 'running',
    trouble: undefined,
    ended: verdict ? { at, verdict } : undefined,
    ...change,
  };
}

function waitingFor(nic: number): Verdict {
  const pending = nicResult(nic, { state: 'Pending', reason: 'WaitingForNIC', name: '' });
  return { kind: 'result', result: jobResult({ outcome: 'partial', nics: [pending] }) };
}

function step(runs: readonly Run[], change: Partial<Wish> = {}, status?: NodeConfigStatus) {
  return decide({ ...wish, ...change }, runs, status, now);
}

function recorded(change: Partial<NodeConfigStatus> = {}): NodeConfigStatus {
  return {
    observedGeneration: 1,
    lastProcessed: '2026-01-01T11:00:00Z',
    lastJobName: 'run-1-1',
    conditions: [{ type: 'Ready', status: 'True', reason: 'AllInterfacesConfigured' }],
    interfaceStatuses: [{ status: 'Configured', reason: 'Configured' }],
    ...change,
  };
}

describe('decide', () => {
  it('starts the first attempt when nothing is known', () => {
    expect(step([])).toEqual({ kind: 'start', attempt: 1, generation: 1 });
  });

  it('brings a run that stands half-way to its start under its own number', () => {
    expect(step([run({ attempt: 4, phase: 'prepared' })])).toMatchObject({
      kind: 'start',
      attempt: 4,
    });
  });

  it('waits for a run on its way', () => {
    expect(step([run()])).toMatchObject({ kind: 'wait', current: true });
  });

  it('is done when the agent is', () => {
    expect(step([run({}, ok)])).toMatchObject({ kind: 'done' });
  });

  it('needs no second run for a change that asks the agent for nothing new', () => {
    expect(step([run({}, ok)], { generation: 2 })).toMatchObject({ kind: 'done' });
  });

  it('starts anew for other content, and never takes the older result for it', () => {
    const changed = { generation: 2, content: 'content-b' };
    expect(step([run({}, ok)], changed)).toEqual({ kind: 'start', attempt: 1, generation: 2 });
  });

  it('starts anew when content comes back that was in force before the last one', () => {
    const runs = [run({}, ok), run({ generation: 2, content: 'content-b' }, ok)];
    expect(step(runs, { generation: 3 })).toMatchObject({ kind: 'start', attempt: 1 });
  });

  it('ignores the late result of an older generation while the current one runs', () => {
    const runs = [run({}, ok), run({ generation: 2, content: 'content-b' })];
    expect(step(runs, { generation: 2, content: 'content-b' })).toMatchObject({
      kind: 'wait',
      run: { generation: 2 },
    });
  });

  it.each([
    ['prepared', 'remove'],
    ['pending', 'remove'],
    ['running', 'wait'],
    ['ending', 'wait'],
  ] as const)('with an older run that is %s: %s', (phase, kind) => {
    expect(step([run({ phase })], { generation: 2, content: 'content-b' })).toMatchObject({
      kind,
      run: { generation: 1 },
    });
  });

  it('cleans up only after the run before has ended', () => {
    const cleanup = { generation: 2, action: 'cleanup' as const, content: 'none' };
    expect(step([run()], cleanup)).toMatchObject({ kind: 'wait', current: false });
    expect(step([run({}, ok)], cleanup)).toMatchObject({ kind: 'start', attempt: 1 });
    const cleaned = run({ ...cleanup }, ok);
    expect(step([run({}, ok), cleaned], cleanup)).toMatchObject({ kind: 'done', witness: cleaned });
  });

  it('counts attempts on from the labels and pauses longer each time', () => {
    const first = step([run({ attempt: 1 }, lost)]);
    const fifth = step([run({ attempt: 5 }, lost)]);
    expect(first).toMatchObject({ kind: 'pause' });
    if (first.kind !== 'pause' || fifth.kind !== 'pause') throw new Error('no pause');
    expect(fifth.forMs).toBeGreaterThan(8 * first.forMs);
    expect(step([run({ attempt: 5 }, lost, 600)])).toMatchObject({ kind: 'start', attempt: 6 });
  });

  it('goes on asking for a NIC that is not there, without an end', () => {
    expect(step([run({ attempt: 900 }, waitingFor(0), 200)])).toMatchObject({
      kind: 'start',
      attempt: 901,
    });
  });

  describe('when the Jobs are gone', () => {
    it('believes its own status of this generation', () => {
      expect(step([], {}, recorded())).toEqual({ kind: 'done', witness: undefined });
    });

    it('sends an agent for another generation, or when the status is lost too', () => {
      expect(step([], { generation: 2 }, recorded())).toMatchObject({ kind: 'start' });
      expect(step([], {}, {})).toMatchObject({ kind: 'start' });
    });

    it('rests when only entries are wrong that no agent was ever given', () => {
      const status = recorded({
        conditions: [{ type: 'Ready', status: 'False', reason: 'InvalidEntries' }],
        interfaceStatuses: [{ status: 'Failed', reason: 'InvalidEntry' }],
      });
      expect(step([], {}, status)).toMatchObject({ kind: 'done' });
    });

    it('never believes the status of another controller', () => {
      const { lastProcessed: _, ...foreign } = recorded();
      expect(step([], {}, foreign)).toMatchObject({ kind: 'start' });
    });

    it('never lets an object go on the word of its status', () => {
      expect(step([], { action: 'cleanup' }, recorded())).toMatchObject({ kind: 'start' });
    });

    it('believes its record of a run whose Pod was deleted after it was read', () => {
      expect(step([run({}, lost)], {}, recorded())).toEqual({ kind: 'done', witness: undefined });
      const another = recorded({ lastJobName: 'run-0-1' });
      expect(step([run({}, lost)], {}, another)).toMatchObject({ kind: 'pause' });
    });
  });

  it('never starts beside a run that may work, whatever else there is', () => {
    const phases: readonly Phase[] = ['pending', 'running', 'ending', 'ended', 'prepared'];
    const anyRun = fc
      .record({
        generation: fc.integer({ min: 1, max: 3 }),
        attempt: fc.integer({ min: 1, max: 3 }),
        content: fc.constantFrom('content-a', 'content-b'),
        action: fc.constantFrom('apply' as const, 'cleanup' as const),
        phase: fc.constantFrom(...phases),
      })
      .map((change) => run(change, change.phase === 'ended' ? ok : undefined));
    fc.assert(
      fc.property(fc.array(anyRun, { maxLength: 5 }), (runs) => {
        const next = step(runs, { generation: 3 });
        const working = runs.filter(({ phase }) => phase === 'running' || phase === 'ending');
        if (working.length > 0) expect(next.kind).not.toBe('start');
      }),
    );
  });
});

describe('pauseMs', () => {
  it('is the same after a restart', () => {
    expect(pauseMs(['ApplyFailed'], 3, 'run-a')).toBe(pauseMs(['ApplyFailed'], 3, 'run-a'));
  });

  it('asks often for a NIC that is to be plugged, and never less than every two minutes', () => {
    expect(pauseMs(['WaitingForNIC'], 1, 'a')).toBeLessThanOrEqual(6_000);
    expect(pauseMs(['WaitingForNIC'], 100, 'a')).toBeLessThanOrEqual(144_000);
  });

  it('is never longer than five minutes and a fifth: nothing that failed is given up', () => {
    const anyReason = fc.constantFrom(...(Object.keys(reasons) as (keyof typeof reasons)[]));
    fc.assert(
      fc.property(
        fc.array(anyReason),
        fc.integer({ min: 1, max: 10_000 }),
        fc.string(),
        (...input) => {
          const ms = pauseMs(...input);
          expect(ms).toBeGreaterThanOrEqual(800);
          expect(ms).toBeLessThanOrEqual(360_000);
        },
      ),
    );
  });

  it('follows the NIC that has the best chance', () => {
    expect(pauseMs(['PrimaryNIC', 'WaitingForNIC'], 1, 'a')).toBeLessThan(10_000);
    expect(pauseMs(['PrimaryNIC'], 1, 'a')).toBeGreaterThan(200_000);
  });
});
