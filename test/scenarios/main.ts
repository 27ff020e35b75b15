// Prints each failure known from the field with the tests that exclude it. Fails if one has no test in CI, no mutant where it
// needs one, or a test that did not pass when it ran last. With --ran, after all stages: or of which no test passed.
import { join } from 'node:path';
import { ciGlobs } from './ci.ts';
import { gapsIn } from './gaps.ts';
import { mutants } from './mutants.ts';
import { type Proof, proofsIn, root } from './proofs.ts';
import { lastResults, notPassed, notRun } from './results.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';

function linesOf(scenario: Scenario, proofs: readonly Proof[]): string[] {
  const { id, field } = scenario;
  const head = `${id}  ${field}`;
  if ('outOfScope' in scenario) return [head, `       out of scope: ${scenario.outOfScope}`];
  const mutant = mutants[id];
  return [
    head,
    `       ${scenario.by}: ${scenario.holds}`,
    ...proofs
      .filter(({ ids }) => ids.includes(id))
      .map(({ file, title }) => `         ${file}: ${title}`),
    ...(mutant ? [`         mutant: ${mutant.file}: ${mutant.find.trim()}`] : []),
  ];
}

const proofs = proofsIn(ciGlobs());
const results = lastResults(process.env['MULTINIC_TEST_RESULTS'] ?? join(root, 'test-results'));
const gaps = [
  ...gapsIn(scenarios, { mutants, proofs }),
  ...notPassed(scenarios, results),
  ...(process.argv.includes('--ran') ? notRun(scenarios, results) : []),
];
for (const scenario of scenarios) console.log(linesOf(scenario, proofs).join('\n'));
for (const gap of gaps) console.error(`gap: ${gap}`);
const proven = scenarios.filter((scenario) => 'holds' in scenario).length;
console.log(`${proven} proven, ${scenarios.length - proven} out of scope, ${gaps.length} gaps`);
process.exitCode = gaps.length > 0 ? 1 : 0;
