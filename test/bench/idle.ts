// What each part keeps of memory when nothing happens: RSS of the processes of the bundle, started as their images start
// them, a while after they are ready.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { bundle } from '../../deploy/bundler.ts';
import { bundleFolder } from '../../rig/parts/program.ts';
import { openWorld } from '../chain/world.ts';

const goalMb = 80;
/** Longer than a watch and the pauses of a poll. */
const quietMs = 40_000;
const parts = ['operator', 'viola', 'controller'] as const;

async function rssMb(pid: number): Promise<number> {
  const status = await readFile(join('/proc', String(pid), 'status'), 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}

await bundle(bundleFolder);
await using world = await openWorld([]);
await wait(quietMs);
console.log('| RSS in MB | idle | goal |');
console.log('| --- | --- | --- |');
for (const part of parts) {
  const mb = await rssMb(world.parts.pidOf(part));
  console.log(`| ${part} | ${mb} | ${goalMb} |`);
  if (mb > goalMb) {
    console.error(`${part}: more than ${goalMb} MB`);
    process.exitCode = 1;
  }
}
