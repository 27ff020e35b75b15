// Cost of a poll of 1,000 servers that finds nothing new; floor: the same requests by plain fetch, answers unread.
// No latency, so that the ratio is that of the work. Medians; ratios within one run.
import { setTimeout as sleep } from 'node:timers/promises';
import { providerHeader } from '../../src/api/node-configs-http.ts';
import { benchOperator } from './bench-operator.ts';
import { Figures, median, rssOf } from './figures.ts';
import { BenchWorld } from './operator-world.ts';

const serverCount = 1_000;
const portsPerServer = 3;
const rounds = 24;
/** Rounds before the just-in-time compiler has settled. */
const warmUp = 8;
const goals = { ratio: 2 };
/** As in src/openstack/port-lists.ts. */
const listsAtOnce = 4;
/** Longer than the operator believes a shared listing. */
const pauseMs = 600;

/** The tag of each page of Viola's list as the last plain fetch received it. */
const tags = new Map<number, string>();

interface Cost {
  readonly ms: number;
  readonly cpuMs: number;
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  await work();
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  return { ms, cpuMs: (user + system) / 1000 };
}

/** Neutron's lists as many at a time as the operator has, and beside them the pages of Viola one after the other. */
async function plainFetch(lists: readonly string[], pages: readonly string[], token: string) {
  const queue = lists.values();
  const worker = async (): Promise<void> => {
    for (const url of queue) await read(url, { 'x-auth-token': token });
  };
  const viola = async (): Promise<void> => {
    for (const [at, url] of pages.entries()) {
      const tag = tags.get(at);
      const condition = tag === undefined ? {} : { 'if-none-match': tag };
      const { headers } = await read(url, { [providerHeader]: 'biz-1', ...condition });
      tags.set(at, headers.get('etag') ?? '');
    }
  };
  await Promise.all([...Array.from({ length: listsAtOnce }, worker), viola()]);
}

async function read(url: string, headers: Readonly<Record<string, string>>): Promise<Response> {
  const answer = await fetch(url, { headers });
  await answer.text();
  return answer;
}

await using world = await BenchWorld.start();
console.log(`making ${serverCount} servers with ${portsPerServer} ports each`);
const { projectId, subnetId, servers } = await world.furnish(serverCount, portsPerServer);
await using bench = await benchOperator(world);
bench.create('osc', { subnetIDs: [subnetId], vmNames: [...servers] }, projectId);
await bench.look('osc');
const token = await world.token(projectId);

const syncs: Cost[] = [];
const floors: Cost[] = [];
for (let round = 0; round < rounds; round++) {
  await sleep(pauseMs);
  const look = await bench.look('osc');
  syncs.push(look);
  floors.push(await costOf(async () => plainFetch(look.urls, look.violaUrls, token)));
}
const ready = bench.ready('osc');
if (!ready.startsWith('True NoChange')) throw new Error(ready);

const of = (costs: readonly Cost[], value: (cost: Cost) => number) =>
  median(costs.slice(warmUp).map(value));
const ms = ({ ms: wall }: Cost) => wall;
const cpu = ({ cpuMs }: Cost) => cpuMs;
const spelled = (costs: readonly Cost[]) =>
  `${of(costs, ms).toFixed(0)} ms, ${of(costs, cpu).toFixed(0)} ms`;
const figures = new Figures();
figures.note('poll without changes, 1,000 servers: time, CPU time', spelled(syncs));
figures.note('the same requests by plain fetch', spelled(floors));
const ratio = median(
  syncs.slice(warmUp).map((sync, at) => sync.ms / (floors[at + warmUp]?.ms ?? 0)),
);
figures.goal('its time', ratio, goals.ratio, 'times');
figures.note('its CPU time', `${(of(syncs, cpu) / of(floors, cpu)).toFixed(2)} times`);
figures.note('memory of its process', `${(await rssOf(process.pid)).rssMb} MB`);
figures.end();
