// What 10,000 MultiNicNodeConfigs of 5 kB and 1,000 Nodes cost the controller in memory, after the first list and after ten
// more, with and without the limits of the heap that it is shipped with.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { bundle } from '../../deploy/bundler.ts';
import { heapFlags, memoryEnvironment } from '../../src/process/heap.ts';

const goalMb = 150;
const server = spawn(process.execPath, [join(import.meta.dirname, 'big-cluster.ts')]);
const [url] = (await once(createInterface(server.stdout), 'line')) as [string];

interface Memory {
  readonly base: number;
  readonly synced: number;
  readonly relisted: number;
  readonly peak: number;
  readonly cpuPerRelistMs: number;
}

const out = await mkdtemp(join(tmpdir(), 'memory-'));
// As it is shipped: the compiler that strips types costs 30 MB.
await bundle(out, join(import.meta.dirname, 'memory-of-stores.ts'));

async function measure(flags: readonly string[], environment: object): Promise<Memory> {
  const program = join(out, 'memory-of-stores.mjs');
  const env = { ...process.env, ...environment };
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program, url], { env });
  return JSON.parse(stdout) as Memory;
}

const shipped = { name: 'as shipped', flags: heapFlags('controller'), env: memoryEnvironment };
console.log('| RSS in MB | before | after the first list | after ten | peak | CPU of a list |');
console.log('| --- | --- | --- | --- | --- | --- |');
for (const setting of [{ name: 'no limits', flags: [], env: {} }, shipped]) {
  const { base, synced, relisted, peak, cpuPerRelistMs } = await measure(
    setting.flags,
    setting.env,
  );
  const cells = [setting.name, base, synced, relisted, peak, `${cpuPerRelistMs} ms`];
  console.log(`| ${cells.join(' | ')} |`);
  if (setting === shipped && relisted > goalMb) {
    console.error(`more than ${goalMb} MB`);
    process.exitCode = 1;
  }
}
server.kill();
await rm(out, { recursive: true });
