import { expect, it } from 'vitest';
import { type Selection, type TestId, type TestRun, type Verdict, verdictOf } from './verdict.ts';

const near: Selection = { project: 'unit', files: ['a.test.ts', 'b.test.ts'] };
const far: Selection = { project: 'unit', files: ['c.test.ts'] };
const one: TestId = { file: 'a.test.ts', name: 'one' };
const other: TestId = { file: 'b.test.ts', name: 'other' };
const green: TestRun = { isGreen: true, failed: [], passed: [one, other] };
const red = (...failed: TestId[]): TestRun => ({ isGreen: false, failed, passed: [] });
const without = (...passed: TestId[]): TestRun => ({ isGreen: false, failed: [], passed });

it.each<[string, TestRun[], Verdict]>([
  ['all tests pass', [green, green], { kind: 'survived' }],
  [
    'a red test passes without the mutant',
    [red(one), green],
    { kind: 'killed', by: 'a.test.ts one' },
  ],
  [
    'one of two red tests passes without the mutant',
    [red(one, other), without(other)],
    { kind: 'killed', by: 'b.test.ts other' },
  ],
  [
    'the red test is red without the mutant',
    [red(one), red(one)],
    { kind: 'unstable', by: 'a.test.ts one' },
  ],
  [
    'only another test passes without the mutant',
    [red(one), without(other)],
    { kind: 'unstable', by: 'a.test.ts one' },
  ],
  [
    'a more distant test is red',
    [green, red(other), green],
    { kind: 'killed', by: 'b.test.ts other' },
  ],
  [
    'the tests reach the time limit, and pass without the mutant',
    [red(), green],
    { kind: 'killed', by: 'time limit, or no report' },
  ],
  [
    'the tests reach the time limit without the mutant, too',
    [red(), red()],
    { kind: 'unstable', by: 'time limit, or no report' },
  ],
])('verdict when %s', async (_, runs, verdict) => {
  const next = runs.values();
  expect(await verdictOf([near, far], async () => next.next().value ?? red())).toEqual(verdict);
});

it('without the mutant only files with red tests run again', async () => {
  const calls: [Selection, boolean][] = [];
  await verdictOf([near, far], async (selection, isMutated) => {
    calls.push([selection, isMutated]);
    return isMutated ? red(one) : green;
  });
  expect(calls).toEqual([
    [near, true],
    [{ ...near, files: ['a.test.ts'] }, false],
  ]);
});
