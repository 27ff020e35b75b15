// Random fault plans, five seeds of each; prints a table.
// Usage: node test/property/plans/main.ts [plans] [seeds] [first seed]

import { runSeeds } from './run-seeds.ts';
import { Totals } from './totals.ts';

const [plans = 1_500, seeds = 5, first = 1] = process.argv.slice(2).map(Number);
const totals = new Totals();
for (let group = 0; group < seeds; group++) {
  const begin = first + group * plans;
  await runSeeds(begin, plans, totals, (line) => console.error(line));
}
console.log(totals.table());
if (!totals.good) process.exitCode = 1;
