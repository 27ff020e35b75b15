// Prints what went wrong in the field, one scenario after the other, with the tests that prove that it does not any more.
// Fails when one has no test, no mutant where it should, or a test that did not pass when it was run last.
import { join } from 'node:path';
import { scenarioMutants } from '../mutate/mutants/scenarios.ts';
import { globsOf, projectsIn } from './ci.ts';
import { gapsIn, textOf } from './gaps.ts';
import { lastResults, notPassed } from './results.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';

function linesOf(scenario: Scenario): string[] {
  const head = `${scenario.id}  ${scenario.field}`;
  if ('outOfScope' in scenario) return [head, `       out of scope: ${scenario.outOfScope}`];
  const { [scenario.id]: mutant } = scenarioMutants;
  return [
    head,
    `       ${scenario.by}: ${scenario.holds}`,
    ...scenario.proofs.map(({ file, title }) => `         ${file}: ${title}`),
    ...(mutant ? [`         without it: ${mutant.file}: ${mutant.find.trim()}`] : []),
  ];
}

const root = join(import.meta.dirname, '..', '..');
const included = globsOf(projectsIn(textOf('.ci/run') ?? ''));
const gaps = [
  ...gapsIn(scenarios, { mutants: scenarioMutants, included, textOf }),
  ...notPassed(scenarios, lastResults(root, process.env['MULTINIC_TEST_RESULTS'])),
];
for (const scenario of scenarios) console.log(linesOf(scenario).join('\n'));
for (const gap of gaps) console.error(`gap: ${gap}`);
const proven = scenarios.filter((scenario) => 'proofs' in scenario).length;
const gone = scenarios.length - proven;
console.log(`${proven} proven, ${gone} out of scope, ${gaps.length} gaps`);
process.exitCode = gaps.length > 0 ? 1 : 0;
