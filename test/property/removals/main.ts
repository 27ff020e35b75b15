// Runs random lives one after another, and prints those that violate the property.
// Usage: node test/property/removals/main.ts [lives] [first seed] [--first: end after the first violation]
//   [--owners: lives of owners instead of removals]
import { parseArgs } from 'node:util';
import * as owners from '../owners/run-life.ts';
import * as removals from './run-life.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    first: { type: 'boolean', default: false },
    owners: { type: 'boolean', default: false },
  },
});
const { runLife, textOf } = values.owners ? owners : removals;
const [lives = 200, firstSeed = 1] = positionals.map(Number);
const started = performance.now();
let removed = 0;
let red = 0;
let done = 0;
for (; done < lives && !(values.first && red > 0); done++) {
  const result = await runLife(firstSeed + done);
  removed += result.removed;
  if (result.flaws.length === 0) continue;
  red += 1;
  console.log(textOf(result));
}
const seconds = (performance.now() - started) / 1_000;
console.log(
  `${red} of ${done} lives violate the property; ${removed} NICs left hosts; ${(done / seconds).toFixed(2)} lives a second`,
);
if (red > 0) process.exitCode = 1;
