import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentTask, jobResult, nicResult } from '../../../test/fixtures/controller-samples.ts';
import { reasons } from '../../api/reasons.ts';
import { type Applied, begun, ended } from '../jobs/applied.ts';
import type { Phase, Run, RunOutcome } from '../jobs/runner.ts';
import { type Desired, decide, pauseMs } from './schedule.ts';

const now = new Date('2026-01-01T12:00:00Z');
const { machine } = agentTask();
const desired: Desired = { generation: 1, action: 'apply', content: 'content-a', machine };
const ok: RunOutcome = { kind: 'result', result: jobResult() };
const lost: RunOutcome = { kind: 'failure', reason: 'ResultLost', message: '' };

function run(change: Partial<Run> = {}, verdict?: RunOutcome): Run {
  const made = agentTask(change);
  return {
    ...made,
    name: `run-${made.content}-${made.attempt}`,
    phase: verdict ? 'ended' : 'running',
    trouble: undefined,
    ended: verdict ? { verdict } : undefined,
    ...change,
  };
}

/** Returns the record for this run; without `verdict` the run has no outcome yet. */
function record(of: Run, verdict?: RunOutcome, endedSecondsAgo = 0): Applied {
  const at = new Date(now.getTime() - endedSecondsAgo * 1000);
  const open = begun(of, of.name, { protocol: 2 }, at);
  return verdict ? ended(open, verdict, at) : open;
}

function waitingFor(nic: number): RunOutcome {
  const pending = nicResult(nic, { state: 'Pending', reason: 'WaitingForNIC', name: '' });
  return { kind: 'result', result: jobResult({ outcome: 'partial', nics: [pending] }) };
}

function next(runs: readonly Run[], applied?: Applied, change: Partial<Desired> = {}) {
  const ageMs = applied ? now.getTime() - Date.parse(applied.at) : 0;
  return decide({ ...desired, ...change }, runs, applied, ageMs);
}

const other = { generation: 2, content: 'content-b' };

describe('decide', () => {
  it('decide starts the first attempt without a record and without runs', () => {
    expect(next([])).toEqual({ kind: 'start', attempt: 1, generation: 1 });
  });

  it('decide starts a prepared run under its existing attempt number', () => {
    const half = run({ attempt: 4, phase: 'prepared' });
    expect(next([half], record(half))).toMatchObject({ kind: 'start', attempt: 4, generation: 1 });
  });

  it('decide waits for the current run, whatever earlier attempts exist', () => {
    expect(next([run()])).toMatchObject({ kind: 'wait', current: true });
    const before = run({ attempt: 4, generation: 7 }, lost);
    const current = run({ content: 'content-b', phase: 'pending' });
    expect(next([before, current], record(current), { ...other, generation: 7 })).toMatchObject({
      kind: 'wait',
      run: current,
    });
  });

  it("decide returns the recorded run's outcome once, and done", () => {
    const last = run({}, ok);
    expect(next([last], record(last))).toEqual({
      kind: 'done',
      observed: { job: last.name, verdict: ok },
    });
    expect(next([last], record(last, ok))).toEqual({ kind: 'done', observed: undefined });
    expect(next([], record(last, ok))).toEqual({ kind: 'done', observed: undefined });
  });

  it("decide counts a heal's failures from the recorded successful attempt, whose Job is gone", () => {
    const heal = run({ attempt: 12 }, lost);
    const pauseOf = (applied: Applied) => {
      const decision = next([heal], applied);
      return decision.kind === 'pause' ? decision.forMs : undefined;
    };
    const first = pauseMs(['ResultLost'], 1, heal.name);
    const third = pauseMs(['ResultLost'], 3, heal.name);
    expect(pauseOf({ ...record(heal, lost), worked: 11 })).toBe(first);
    expect(pauseOf({ ...record(heal, lost), worked: 9 })).toBe(third);
    // `worked` equals the attempt after a check found drift: no run failed yet, hence the first delay.
    expect(pauseOf({ ...record(heal, lost), worked: 12 })).toBe(first);
    expect(third).toBeGreaterThan(first);
  });

  it("decide pauses from the time an outcome is observed, not from the run's start", () => {
    const last = run({}, lost);
    const begunLongAgo = { ...record(last), at: '2026-01-01T11:00:00Z' };
    const observed = { job: last.name, verdict: lost };
    const decision = next([last], begunLongAgo);
    expect(decision).toMatchObject({ kind: 'pause', observed });
    expect('forMs' in decision && decision.forMs).toBeGreaterThan(0);
  });

  it('decide returns done for a new generation with the same content', () => {
    const last = run({}, ok);
    expect(next([last], record(last, ok), { generation: 2 })).toMatchObject({ kind: 'done' });
  });

  it('decide starts a new run for different content and ignores the older result', () => {
    const last = run({}, ok);
    const start = { kind: 'start', attempt: 1, generation: 2 };
    expect(next([last], record(last, ok), other)).toEqual(start);
    expect(next([last], record(last), other)).toEqual(start);
  });

  it('decide starts again when earlier content returns after different content', () => {
    const [a, b] = [run({}, ok), run(other, ok)];
    const back = { generation: 3 };
    // The earlier Job still uses the first attempt's name.
    const start = { kind: 'start', attempt: 2, generation: 3 };
    expect(next([a, b], record(b, ok), back)).toEqual(start);
    expect(next([a], record(b, ok), back)).toEqual(start);
    expect(next([a], record(b), back)).toEqual(start);
    expect(next([], record(b), back)).toEqual({ ...start, attempt: 1 });
  });

  it('decide starts a run when a Job exists without a record', () => {
    expect(next([run({}, ok)])).toMatchObject({ kind: 'start', attempt: 2 });
  });

  it.each([
    ['prepared', 'remove'],
    ['pending', 'remove'],
    ['running', 'wait'],
    ['ending', 'wait'],
  ] as const)('decide, with an obsolete run that is %s: %s', (phase, kind) => {
    expect(next([run({ phase })], undefined, other)).toMatchObject({
      kind,
      run: { generation: 1 },
    });
  });

  it('decide starts a clean-up only after the previous run has ended', () => {
    const cleanup = { generation: 2, action: 'cleanup' as const, content: 'none' };
    expect(next([run()], undefined, cleanup)).toMatchObject({ kind: 'wait', current: false });
    const last = run({}, ok);
    expect(next([last], record(last, ok), cleanup)).toMatchObject({ kind: 'start', attempt: 1 });
    const cleaned = run({ ...cleanup }, ok);
    expect(next([last, cleaned], record(cleaned), cleanup)).toMatchObject({ kind: 'done' });
  });

  it('decide removes a prepared run with a different action, even for equal content', () => {
    const empty = run({ phase: 'prepared' });
    const cleanup = { action: 'cleanup' as const };
    expect(next([empty], undefined, cleanup)).toMatchObject({ kind: 'remove' });
  });

  it('decide reports a vanished run as ResultLost and pauses before a retry', () => {
    const gone = record(run({ attempt: 3 }));
    expect(next([], gone)).toMatchObject({
      kind: 'pause',
      observed: { job: gone.job, verdict: { reason: 'ResultLost' } },
    });
  });

  describe('after a failed attempt', () => {
    it('decide increases the delay with each failure and continues the attempt numbers', () => {
      const [first, fifth] = [1, 5].map((attempt) => next([], record(run({ attempt }), lost)));
      if (first?.kind !== 'pause' || fifth?.kind !== 'pause') throw new Error('no pause');
      expect(fifth.forMs).toBeGreaterThan(8 * first.forMs);
      const due = next([], record(run({ attempt: 5 }), lost, 600));
      expect(due).toMatchObject({ kind: 'start', attempt: 6 });
    });

    it('decide uses the first delay again when the content succeeded before', () => {
      const worked = [1, 2, 6].map((attempt) => run({ attempt }, ok));
      const failed = run({ attempt: 7 }, lost);
      const first = run({ attempt: 1 }, lost);
      const after = next([...worked, failed], record(failed, lost));
      expect(after).toMatchObject({ kind: 'pause' });
      const pauseOf = (decision: typeof after) => ('forMs' in decision ? decision.forMs : 0);
      // 1.2 s at most, as after a first failure.
      expect(pauseOf(after)).toBeLessThanOrEqual(1_200);
      expect(pauseOf(next([first], record(first, lost)))).toBeLessThanOrEqual(1_200);
      const again = run({ attempt: 8 }, lost);
      expect(pauseOf(next([...worked, failed, again], record(again, lost)))).toBeGreaterThan(1_500);
      // With deleted Jobs the successes are unknown: the delay keeps growing.
      expect(pauseOf(next([failed], record(failed, lost)))).toBeGreaterThan(30_000);
    });

    it('decide waits only for the rest of the delay', () => {
      const failed = run({ attempt: 5 }, lost);
      const [whole, rest] = [0, 4].map((seconds) => next([], record(failed, lost, seconds)));
      if (whole?.kind !== 'pause' || rest?.kind !== 'pause') throw new Error('no pause');
      expect(whole.forMs - rest.forMs).toBe(4_000);
    });

    it('decide retries without a delay after a network manager mismatch', () => {
      const nics = [nicResult(0, { state: 'Failed', reason: 'WrongFamily' })];
      const result = jobResult({ outcome: 'failed', nics, family: 'keyfile' });
      const misled = run({}, { kind: 'result', result });
      expect(next([misled], record(misled))).toMatchObject({ kind: 'pause', forMs: 0 });
    });

    it('decide retries a missing NIC without a limit', () => {
      const last = run({ attempt: 900 });
      expect(next([], record(last, waitingFor(0), 200))).toMatchObject({
        kind: 'start',
        attempt: 901,
      });
    });
  });

  describe('on a changed node', () => {
    const done = record(run({ machine: { ...machine, bootId: 'boot-1' } }), ok);
    const nodeWith = (change: object) => ({ machine: { ...machine, bootId: 'boot-1', ...change } });

    it.each([
      ['another machine id', { machineId: 'machine-2' }],
      ['another Node object', { nodeUid: 'uid-2' }],
      ['another name', { nodeName: 'worker-1.example.org' }],
    ])('decide starts again: %s', (_what, change) => {
      expect(next([], done, nodeWith(change))).toMatchObject({ kind: 'start' });
    });

    it('after a reboot, decide repeats an incomplete apply, and leaves a completed apply to the check', () => {
      const booted = nodeWith({ bootId: 'boot-2' });
      const open = record(run({ machine: { ...machine, bootId: 'boot-1' } }), waitingFor(0));
      expect(next([], open, booted)).toMatchObject({ kind: 'start' });
      expect(next([], done, booted)).toMatchObject({ kind: 'done' });
    });

    it('decide treats a Node without machine and boot ids as unchanged', () => {
      const less = nodeWith({ machineId: undefined, bootId: undefined });
      expect(next([], done, less)).toMatchObject({ kind: 'done' });
    });

    it.each<[string, Phase, object, 'remove' | 'wait']>([
      ['that has not started', 'pending', { machineId: 'machine-2' }, 'remove'],
      [
        'that is shown as running, because its Pod was never ended',
        'running',
        { machineId: 'machine-2' },
        'remove',
      ],
      [
        'with another Node object',
        'running',
        { machineId: 'machine-2', nodeUid: 'uid-2' },
        'remove',
      ],
      ['that is being removed', 'ending', { machineId: 'machine-2' }, 'wait'],
      ['if only the Node object is new', 'running', { nodeUid: 'uid-2' }, 'wait'],
      [
        'if the Node object is new and has no machine id',
        'running',
        { nodeUid: 'uid-2', machineId: undefined },
        'wait',
      ],
    ])('decide removes or waits for a run from another machine %s', (_, phase, change, kind) => {
      const open = run({ phase });
      const check = { action: 'check' as const, content: 'look' };
      expect(next([open], record(open), nodeWith(change))).toMatchObject({ kind });
      const openCheck = run({ ...check, phase });
      expect(next([openCheck], undefined, nodeWith(change))).toMatchObject({ kind });
      expect(next([openCheck], undefined, { ...check, ...nodeWith(change) })).toMatchObject({
        kind,
      });
    });

    it('decide repeats no completed clean-up after a reboot', () => {
      const cleanup = { action: 'cleanup' as const, content: 'none' };
      const cleaned = record(run(cleanup), ok);
      expect(next([], cleaned, { ...cleanup, ...nodeWith({ bootId: 'boot-2' }) })).toMatchObject({
        kind: 'done',
      });
    });
  });

  it('decide never starts a run next to a running or ending run (property)', () => {
    const phases: readonly Phase[] = ['pending', 'running', 'ending', 'ended', 'prepared'];
    const anyRun = fc
      .record({
        generation: fc.integer({ min: 1, max: 3 }),
        attempt: fc.integer({ min: 1, max: 3 }),
        content: fc.constantFrom('content-a', 'content-b'),
        action: fc.constantFrom('apply' as const, 'cleanup' as const, 'check' as const),
        phase: fc.constantFrom(...phases),
      })
      .map((change) => run(change, change.phase === 'ended' ? ok : undefined));
    fc.assert(
      fc.property(
        fc.array(anyRun, { maxLength: 5 }),
        fc.option(anyRun),
        fc.constantFrom('apply' as const, 'check' as const),
        (runs, recorded, action) => {
          const applied = recorded && action === 'apply' ? record(recorded) : undefined;
          const decision = next(runs, applied, { generation: 3, action });
          const working = runs.filter(({ phase }) => phase === 'running' || phase === 'ending');
          if (working.length > 0) expect(decision.kind).not.toBe('start');
        },
      ),
    );
  });
});

describe('pauseMs', () => {
  it('pauseMs is the same after a restart', () => {
    expect(pauseMs(['ApplyFailed'], 3, 'run-a')).toBe(pauseMs(['ApplyFailed'], 3, 'run-a'));
  });

  it('pauseMs spreads delays by ±20 %, so simultaneous failures retry at different times', () => {
    const pauses = Array.from({ length: 50 }, (_, i) => pauseMs(['PrimaryNIC'], 1, `run-${i}`));
    expect(Math.min(...pauses)).toBeLessThan(260_000);
    expect(Math.max(...pauses)).toBeGreaterThan(340_000);
  });

  it('pauseMs starts at seconds for WaitingForNIC and never exceeds two minutes ±20 %', () => {
    expect(pauseMs(['WaitingForNIC'], 1, 'a')).toBeLessThanOrEqual(6_000);
    expect(pauseMs(['WaitingForNIC'], 100, 'a')).toBeLessThanOrEqual(144_000);
  });

  it('pauseMs never exceeds five minutes plus 20 %, for any reasons', () => {
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

  it("pauseMs uses the shortest delay among the NICs' reasons", () => {
    expect(pauseMs(['PrimaryNIC', 'WaitingForNIC'], 1, 'a')).toBeLessThan(10_000);
    expect(pauseMs(['PrimaryNIC'], 1, 'a')).toBeGreaterThan(200_000);
  });
});
