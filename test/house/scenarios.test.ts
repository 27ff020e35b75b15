import { describe, expect, it } from 'vitest';
import type { Mutant } from '../mutate/mutant.ts';
import { scenarioMutants } from '../mutate/mutants/scenarios.ts';
import { globsOf, projectsIn } from '../scenarios/ci.ts';
import { gapsIn, textOf } from '../scenarios/gaps.ts';
import { notPassed } from '../scenarios/results.ts';
import { namePattern, type Proven, proof, type Scenario } from '../scenarios/scenario.ts';
import { scenarios } from '../scenarios/scenarios.ts';

const included = globsOf(projectsIn(textOf('.ci/run') ?? ''));

it('each scenario of the field has its tests, and its mutant where it is about the agent', () => {
  expect(gapsIn(scenarios, { mutants: scenarioMutants, included, textOf })).toEqual([]);
});

const first = scenarios[0] as Proven;
const file = 'src/a.test.ts';
const one: Proven = { ...first, by: 'controller', proofs: [proof(file, 'a group > holds')] };
const text = "describe('a group', () => { it('holds', () => {}) })";
const mutant: Mutant = {
  file: 'src/a.ts',
  find: 'a',
  replace: 'b',
  tests: ['unit', file],
  named: namePattern('a group > holds'),
};

/** A tree in which every file has the one test. */
const tree = (path: string) => (path === 'src/b.test.ts' ? undefined : text);

function gaps(scenario: Scenario, mutants: Readonly<Record<string, Mutant>> = {}): string[] {
  const others = scenarios.slice(1).map(({ id, field }) => ({ id, field, outOfScope: 'here' }));
  return gapsIn([scenario, ...others], { mutants, included: ['src/**/*.test.ts'], textOf: tree });
}

describe('a gap', () => {
  it('is none where a test is there and is run, and a mutant is for it', () => {
    expect(gaps(one)).toEqual([]);
    expect(gaps({ ...one, by: 'agent' }, { 'RW-01': mutant })).toEqual([]);
  });

  it.each<[string, Partial<Proven>, string]>([
    ['no test', { proofs: [] }, 'no test'],
    [
      'a file that is not there',
      { proofs: [proof('src/b.test.ts', 'x')] },
      'there is no src/b.test.ts',
    ],
    [
      'a title that is not there',
      { proofs: [proof(file, 'a group > hold')] },
      'has no test "hold"',
    ],
    ['a test that is not run', { proofs: [proof('test/a.test.ts', 'holds')] }, 'is not run before'],
    ['no mutant of the agent', { by: 'agent' }, 'no mutant'],
  ])('is %s', (_, more, words) => {
    expect(gaps({ ...one, ...more })).toEqual([expect.stringContaining(`RW-01: `)]);
    expect(gaps({ ...one, ...more })[0]).toContain(words);
  });

  it('is a mutant that another test is to notice', () => {
    const other = { ...mutant, named: namePattern('another one') };
    expect(gaps(one, { 'RW-01': other })).toEqual(['RW-01: its mutant is for another test']);
  });

  it('is a scenario that is missing, and one that is there twice', () => {
    const twice = { id: 'RW-02', field: '', outOfScope: '' } as const;
    expect(gaps(twice)).toEqual(['RW-01: is not there', 'RW-02: once more']);
  });
});

const ran = (status: string, name = 'a group holds') => new Map([[file, [{ name, status }]]]);

describe('a test that was run', () => {
  it('passed, or is told', () => {
    expect(notPassed([one], new Map())).toEqual([]);
    expect(notPassed([one], ran('passed'))).toEqual([]);
    expect(notPassed([one], ran('skipped'))).toEqual([
      'RW-01: src/a.test.ts, "a group > holds" was skipped',
    ]);
    expect(notPassed([one], ran('passed', 'a group'))).toEqual([
      'RW-01: src/a.test.ts, "a group > holds" was not run',
    ]);
  });

  it.each([
    ['the group > is %s of $name', 'the group is 7 of kim', true],
    ['costs $1 (a+b)', 'costs $1 (a+b)', true],
    ['is %s', 'that is 7', false],
  ])('has by %s the name %s: %s', (title, name, is) => {
    expect(new RegExp(namePattern(title)).test(name)).toBe(is);
  });
});

it('the projects that run before anything lands are known', () => {
  expect(projectsIn(textOf('.ci/run') ?? '')).toEqual(
    expect.arrayContaining(['unit', 'namespaces', 'e2e']),
  );
  expect(included).toContain('test/namespaces/**/*.test.ts');
});
