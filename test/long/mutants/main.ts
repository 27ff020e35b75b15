// Plants defects in copies of the tree and runs the tests that should fail. Prints a table and the survivors.
//   main.ts [--count N] [--minutes M] [FOLDER…]   N generated mutants (default: $N or 150), a different sample for each commit
//   main.ts --scenarios [--minutes M]             the mutants of the field scenarios (needs root); a survivor fails the run
// The run ends after M minutes (default: 40; all scenarios); mutants without a verdict by then are counted.
import { parseArgs } from 'node:util';
import { lineOf, type Result, summaryOf, writeTable } from './report.ts';
import { generatedTasks, scenarioTasks, type Task } from './tasks.ts';
import { TreeCopy } from './tree-copy.ts';
import { verdictOf } from './verdict.ts';

/** Copies in use at once: most tests use one core, and wait. */
const copies = 2;

const { values, positionals: folders } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: process.env['N'] || '150' },
    minutes: { type: 'string' },
    scenarios: { type: 'boolean', default: false },
  },
});
const { scenarios } = values;
const tasks = scenarios ? scenarioTasks() : generatedTasks(folders, Number(values.count));
const queue = tasks.values();
const results: Result[] = [];
const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
const minutes = Number(values.minutes ?? (scenarios ? 600 : 40));
const endAt = performance.now() + minutes * 60_000;
// Tests on hosts end by themselves: they would leave network namespaces behind.
if (!scenarios) setTimeout(() => stop.abort(), minutes * 60_000).unref();

async function resultOf(task: Task, tree: TreeCopy): Promise<Result> {
  const started = performance.now();
  const verdict = await verdictOf(task.batches, (selection, isMutated) =>
    tree.run(selection, isMutated ? task.mutant : undefined),
  );
  return { task, verdict, seconds: Math.round((performance.now() - started) / 1000) };
}

async function work(): Promise<void> {
  await using tree = await TreeCopy.make(stop.signal);
  for (const task of queue) {
    if (performance.now() > endAt) return;
    const result = await resultOf(task, tree).catch(orStopped);
    if (!result) return;
    results.push(result);
    console.log(lineOf(result));
  }
}

/** Returns undefined for the error from the stop. */
function orStopped(error: unknown): undefined {
  if (!stop.signal.aborted) throw error;
}

await Promise.all(Array.from({ length: copies }, work));
console.log(summaryOf(results));
writeTable(scenarios ? 'scenario-mutants' : 'mutants', results);
const late = tasks.length - results.length;
if (late > 0)
  console.log(`\n${late} mutants have no verdict: the run was stopped, or its time was up`);
const open = results.filter(({ verdict }) => verdict.kind !== 'killed').length;
// A complete scenario run must not be stopped early: mutants without verdict prove nothing. A sample has a limit.
if (scenarios) process.exitCode = open > 0 || (late > 0 && !values.minutes) ? 1 : 0;
else if (open > 0)
  console.log(
    '\nSurvivors of generated mutants do not fail the run: each is a question to the tests.',
  );
