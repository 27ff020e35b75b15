import { expect, it } from 'vitest';
import { textOf } from './tree.ts';

/** Returns the stages in a script's calls of test/stage, in their order. */
function stagesIn(script: string): string[] {
  const calls = [...script.matchAll(/test\/stage ((?:[a-z0-9-]+ ?)+)/g)];
  return calls.flatMap(([, names = '']) => names.trim().split(' '));
}

const ci = textOf('.ci/run');
const [, makeTest = ''] = /^test:.*\n\t(.*)/m.exec(textOf('Makefile')) ?? [];

it('.ci/run begins its computing lane with make test and runs each stage once', () => {
  expect(ci).toMatch(/^compute\(\) \{\n.*\n {2}make test /m);
  const stages = [...stagesIn(makeTest), ...stagesIn(ci)];
  expect(stages).toEqual(expect.arrayContaining(['check', 'chain', 'integration', 'latency']));
  expect(stages.toSorted()).toEqual([...new Set(stages)].toSorted());
});

it('test/summary.ts expects results of every stage with tests in .ci/run', () => {
  const [, expected = ''] = /test\/summary\.ts ([a-z0-9 -]+?) \|\|/.exec(ci) ?? [];
  const suites = [...textOf('test/stage').matchAll(/\bsuite \d (\S+)/g)];
  const withTests = [...stagesIn(makeTest), ...stagesIn(ci)].filter((stage) =>
    suites.some(([, suite]) => suite === stage),
  );
  // The stage check runs the unit tests.
  expect(expected.split(' ').toSorted()).toEqual([...withTests, 'unit'].toSorted());
});
