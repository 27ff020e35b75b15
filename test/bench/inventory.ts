// What readers of the inventory cost the operator that serves it: 20 readers of 10,000 nodes with ten NICs each, without a
// limit, in a process with the operator's heap limits. The delay of the event loop stands beside that of an idle process.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Registry } from 'prom-client';
import { createHttpServer } from '../../src/http/server.ts';
import { serveInventory } from '../../src/inventory/routes.ts';
import { createHealth } from '../../src/process/health.ts';
import { createLogger } from '../../src/process/log.ts';
import { Store } from '../../src/store/store.ts';
import { systemClock } from '../../src/time/clock.ts';
import { about } from '../fixtures/about.ts';
import { entry } from '../fixtures/controller-samples.ts';
import { Figures, rssOf } from './figures.ts';

const nodeCount = 10_000;
const nicsPerNode = 10;
const readers = 20;
const measuredMs = 30_000;
/** Memory limit of the operator's container in the chart: 448Mi. */
const limitMb = 448;
/** What is measured is the time between two timers, so that an idle loop has this much. */
const resolution = 10;

const folder = await mkdtemp(join(tmpdir(), 'multinic-bench-inventory-'));
const database = { kind: 'sqlite', path: join(folder, 'inventory.db') } as const;
const store = await Store.open(database, { now: () => new Date() });
const interfaces = Array.from({ length: nicsPerNode }, (_, index) => entry(index));
const nodes = Array.from({ length: nodeCount }, (_, n) => ({
  nodeName: `worker-${n}`,
  instanceId: `server-${n}`,
  interfaces,
  uid: `uid-${n}`,
  generation: 1,
}));
await store.record('biz-1', { namespace: 'bench', name: 'osc', generation: 1 }, nodes);

/** Most rows that were read in one turn of the event loop. */
let mostRows = 0;
const list = store.list.bind(store);
store.list = async (filter) => {
  const found = await list(filter);
  mostRows = Math.max(mostRows, found.length);
  return found;
};
const app = await createHttpServer({
  title: 'Inventory',
  clock: systemClock,
  log: createLogger({ part: 'bench', level: 'silent' }),
  health: createHealth(),
  about,
  registry: new Registry(),
});
serveInventory(app, { store, tokens: undefined, unavailable: () => undefined });
const url = await app.listen({ host: '127.0.0.1', port: 0 });

/** Runs code in a process of its own, which answers one line of JSON when it has ended. */
function run(code: string): ChildProcess {
  return spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function answerOf(child: ChildProcess): Promise<Record<string, number>> {
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(child, 'close');
  return JSON.parse(text) as Record<string, number>;
}

const idle = answerOf(
  run(`import { monitorEventLoopDelay } from 'node:perf_hooks';
    const delay = monitorEventLoopDelay({ resolution: ${resolution} });
    delay.enable();
    await new Promise((resolve) => setTimeout(resolve, ${measuredMs}));
    console.log(JSON.stringify({ p99: delay.percentile(99) / 1e6 - ${resolution} }));`),
);
const read = answerOf(
  run(`let whole = 0, refused = 0;
    const until = Date.now() + ${measuredMs};
    async function reader() {
      while (Date.now() < until) {
        const answer = await fetch('${url}/v1/inventory/node-configs');
        const body = await answer.text();
        if (answer.status === 200 && JSON.parse(body).length === ${nodeCount}) whole++;
        else if (answer.status === 503) refused++;
        else throw new Error(answer.status + ' ' + body.slice(0, 200));
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
    await Promise.all(Array.from({ length: ${readers} }, reader));
    console.log(JSON.stringify({ whole, refused }));`),
);
const delay = monitorEventLoopDelay({ resolution });
delay.enable();
const [{ whole = 0, refused = 0 }, { p99 = 0 }] = await Promise.all([read, idle]);
delay.disable();
await app.close();
await store[Symbol.asyncDispose]();
const { peakMb } = await rssOf(process.pid);
await rm(folder, { recursive: true });
const figures = new Figures();
const title = `inventory, ${readers} readers of ${nodeCount} nodes with ${nicsPerNode} NICs`;
figures.goal(`${title}: peak RSS`, peakMb, limitMb, 'MB');
figures.goal('rows read in one turn of the event loop, at most', mostRows, 200, 'rows');
figures.note('answers, and readers told to come later', `${whole}, ${refused}`);
figures.note(
  'p99 delay of the event loop, and of an idle process beside it',
  `${(delay.percentile(99) / 1e6 - resolution).toFixed(1)} ms, ${p99.toFixed(1)} ms`,
);
figures.end();
