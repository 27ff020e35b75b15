// What 10,000 MultiNicNodeConfigs of 5 kB and 1,000 Nodes cost the controller in memory, after the first list and after ten
// more, with and without the limits of the heap that it is shipped with; and how much heap the budget for removals adds.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { bundle } from '../../build/bundler.ts';
import { heapFlags, memoryEnvironment } from '../../src/process/heap.ts';
import { Figures } from './figures.ts';

const goalMb = 150;
const budgetGoalMb = 3;
const server = spawn(process.execPath, [join(import.meta.dirname, 'big-cluster.ts')]);
const [url] = (await once(createInterface(server.stdout), 'line')) as [string];

interface Memory {
  readonly base: number;
  readonly synced: number;
  readonly relisted: number;
  readonly peak: number;
  readonly cpuPerRelistMs: number;
  /** Heap of the budget for removals, by state of all objects. */
  readonly budgetMb: Readonly<Record<'unchanged' | 'deleted' | 'removed', number>>;
}

const out = await mkdtemp(join(tmpdir(), 'memory-'));
// As it is shipped: the compiler that strips types costs 30 MB.
await bundle(out, join(import.meta.dirname, 'controller-stores.ts'));

function told({ base, synced, relisted, peak, cpuPerRelistMs }: Memory): string {
  const first = `${base} MB before, ${synced} after the first list, ${relisted} after ten`;
  return `${first}, peak ${peak}; ${cpuPerRelistMs} ms of CPU per list`;
}

async function measure(flags: readonly string[], environment: object): Promise<Memory> {
  const program = join(out, 'controller-stores.mjs');
  const env = { ...process.env, ...environment };
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program, url], { env });
  return JSON.parse(stdout) as Memory;
}

const figures = new Figures();
const free = await measure([], {});
figures.note('controller, 10,000 objects and 1,000 Nodes, no limits: RSS', told(free));
const shipped = await measure(heapFlags('controller'), memoryEnvironment);
figures.goal(
  'controller, 10,000 objects and 1,000 Nodes: RSS after ten lists',
  shipped.relisted,
  goalMb,
  'MB',
);
figures.note('the same as shipped, all of it', told(shipped));
const { unchanged, deleted, removed } = shipped.budgetMb;
figures.goal('budget for removals of 10,000 objects: heap', unchanged, budgetGoalMb, 'MB');
figures.goal('its heap, all objects deleted', deleted, budgetGoalMb, 'MB');
figures.goal('its heap, counted removals in all records', removed, budgetGoalMb, 'MB');
figures.end();
server.kill();
await rm(out, { recursive: true });
