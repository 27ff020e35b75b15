// What a look of the operator costs beside the reads that it needs: 1,000 servers with 3 ports each behind 20 ms of latency,
// one port changed and delivered per round, against the same requests by plain fetch. Medians; ratios within one run.
import { setTimeout as sleep } from 'node:timers/promises';
import { benchOperator } from './bench-operator.ts';
import { Figures } from './figures.ts';
import { BenchWorld, type Furnished } from './operator-world.ts';

const serverCount = 1_000;
const portsPerServer = 3;
const latencyMs = 20;
const rounds = 14;
/** Rounds before the just-in-time compiler has settled. */
const warmUp = 4;
const goals = { cold: 16, calls: 12, ratio: 2, attach: 2, removal: 3 };
/** As in src/openstack/port-lists.ts: more at once would only make Neutron slower. */
const listsAtOnce = 4;
/** Longer than the operator believes a shared listing: each round has to look for itself. */
const pauseMs = 600;

interface Round {
  readonly syncMs: number;
  readonly cpuMs: number;
  readonly plainMs: number;
  readonly calls: number;
}

/** The same requests without the operator: lists as many at a time as it has, then its questions one after the other. */
async function plainFetch(urls: readonly string[], token: string): Promise<number> {
  const headers = { 'x-auth-token': token };
  const get = async (url: string) => (await fetch(url, { headers })).json();
  const lists = urls.filter(isList).values();
  const worker = async (): Promise<void> => {
    for (const url of lists) await get(url);
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: listsAtOnce }, worker));
  for (const url of urls.filter((one) => !isList(one))) await get(url);
  return performance.now() - start;
}

function isList(url: string): boolean {
  return url.includes('device_id=');
}

/** Attaches a port in one round and takes it off in the next. */
async function change(world: BenchWorld, furnished: Furnished, round: number) {
  const { networkId } = furnished;
  const serverId = serverOf(furnished, round);
  if (round % 2 === 0) {
    const { portId = '' } = await world.control('attach', { serverId, networkId });
    return portId;
  }
  await world.control('detach', { serverId, portId: attached });
  return '';
}

function serverOf({ servers }: Furnished, round: number): string {
  return servers[Math.floor(round / 2) * 7] ?? '';
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

await using world = await BenchWorld.start();
console.log(`making ${serverCount} servers with ${portsPerServer} ports each`);
const furnished = await world.furnish(serverCount, portsPerServer);
const { projectId, subnetId, servers } = furnished;
await using bench = await benchOperator(world);
bench.create('osc', { subnetIDs: [subnetId], vmNames: [...servers] }, projectId);
const first = await bench.look('osc');
const firstNodes = await world.written();
if (firstNodes !== serverCount) throw new Error(`${firstNodes} nodes in the first sync`);
await world.control('setLatency', { ms: latencyMs });
const token = await world.token(furnished.projectId);

let attached = '';
const measured: Round[] = [];
for (let round = 0; round < rounds; round++) {
  attached = await change(world, furnished, round);
  await sleep(pauseMs);
  const { ms: syncMs, cpuMs, calls, urls } = await bench.look('osc');
  const nodes = await world.written();
  if (nodes !== 1) {
    throw new Error(`round ${round} delivered ${nodes} nodes: ${bench.ready('osc')}`);
  }
  measured.push({ syncMs, cpuMs, calls, plainMs: await plainFetch(urls, token) });
}

// One whose looks at all servers do not come between.
await using patient = await benchOperator(world, { POLL_FAST_INTERVAL: '10m' });
patient.create('osc', { subnetIDs: [subnetId], vmNames: [...servers] }, projectId);
await patient.look('osc');

/** Calls of looks at one server of which something was said, at most. */
const hinted = { attach: 0, removal: 0 };
for (let round = 0; round < rounds; round++) {
  const isAttach = round % 2 === 0;
  attached = await change(world, furnished, round);
  // Nova takes off what it was asked to behind its answer.
  await sleep(pauseMs);
  patient.hint('osc', serverOf(furnished, round));
  const { calls } = await patient.look('osc');
  const nodes = await world.written();
  if (nodes !== 1)
    throw new Error(`hint ${round} delivered ${nodes} nodes: ${patient.ready('osc')}`);
  const kind = isAttach ? 'attach' : 'removal';
  hinted[kind] = Math.max(hinted[kind], calls);
}

const settled = measured.slice(warmUp);
const of = (value: (round: Round) => number) => median(settled.map(value));
const result = {
  calls: Math.max(...settled.map(({ calls }) => calls)),
  syncMs: of(({ syncMs }) => syncMs),
  cpuMs: of(({ cpuMs }) => cpuMs),
  plainMs: of(({ plainMs }) => plainMs),
  ratio: of(({ syncMs, plainMs }) => syncMs / plainMs),
};
const figures = new Figures();
figures.note('node', process.version);
figures.goal('OpenStack calls of a steady sync, at most', result.calls, goals.calls, 'calls');
figures.goal('OpenStack calls of the first sync, at most', first.calls, goals.cold, 'calls');
figures.note('its time, no latency', `${first.ms.toFixed(0)} ms`);
figures.goal(
  'OpenStack calls of a sync after an attach, at most',
  hinted.attach,
  goals.attach,
  'calls',
);
figures.goal(
  'OpenStack calls of a sync after a removal, at most',
  hinted.removal,
  goals.removal,
  'calls',
);
figures.note(
  `the same reads by plain fetch, ${listsAtOnce} lists at a time`,
  `${result.plainMs.toFixed(0)} ms`,
);
figures.goal('sync, from reads to delivery and inventory', result.ratio, goals.ratio, 'times');
figures.note(
  'its time, and CPU time',
  `${result.syncMs.toFixed(0)} ms, ${result.cpuMs.toFixed(0)} ms`,
);
figures.end();
