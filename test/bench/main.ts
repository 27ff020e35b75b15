// Runs every bench in a process of its own, one after the other: figures are ratios within one run.
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const benches = ['operator', 'agent', 'memory', 'idle'];
const wanted = process.argv.slice(2);

for (const name of wanted.length > 0 ? wanted : benches) {
  if (!benches.includes(name)) {
    console.error(`no bench "${name}"; there are: ${benches.join(', ')}`);
    process.exit(2);
  }
  console.log(`\n== ${name}`);
  const bench = spawn(process.execPath, [join(import.meta.dirname, `${name}.ts`)], {
    stdio: 'inherit',
  });
  const status = await new Promise((resolve) => bench.once('exit', resolve));
  if (status !== 0) process.exitCode = 1;
}
