// Runs every bench in a process of its own, one after the other, and prints the table of all their figures: those that have
// a goal say whether it was met. Exits with 1 when one was missed or a bench failed.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { heapFlags, memoryEnvironment } from '../../src/process/heap.ts';

const benches = [
  'operator',
  'steady',
  'operator-scale',
  'viola-post',
  'inventory',
  'agent',
  'idle',
  'operator-memory',
  'controller-memory',
  'hanging',
  'restart',
  'places',
  'biz-config',
  'rollout',
  'checks',
  'cli',
];
const wanted = process.argv.slice(2);
const unknown = wanted.find((name) => !benches.includes(name));
if (unknown !== undefined) {
  console.error(`no bench "${unknown}"; there are: ${benches.join(', ')}`);
  process.exit(2);
}

const folder = await mkdtemp(join(tmpdir(), 'multinic-bench-'));
const table = join(folder, 'table');
const failed: string[] = [];
for (const name of wanted.length > 0 ? wanted : benches) {
  console.log(`\n== ${name}`);
  // Their memory is that of the operator's work: they have the limits that the image gives the operator.
  const limits = ['operator-scale', 'inventory'].includes(name) ? heapFlags('operator') : [];
  const bench = spawn(process.execPath, [...limits, join(import.meta.dirname, `${name}.ts`)], {
    stdio: 'inherit',
    env: { ...process.env, ...(limits.length > 0 ? memoryEnvironment : {}), BENCH_TABLE: table },
  });
  const status = await new Promise((resolve) => bench.once('exit', resolve));
  if (status !== 0) failed.push(name);
}
console.log('\n| figure | measured | goal | |\n| --- | --- | --- | --- |');
process.stdout.write(await readFile(table, 'utf8').catch(() => ''));
await rm(folder, { recursive: true });
if (failed.length > 0) {
  console.error(`goal missed, or not measured: ${failed.join(', ')}`);
  process.exitCode = 1;
}
