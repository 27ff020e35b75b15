// What a large cloud costs the operator: 10,000 servers with 10 ports each in ten OpenstackConfigs, and one listing for a
// hundred OpenstackConfigs that share their servers. Node's own timers tell how long the event loop was blocked.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { mapBounded } from '../../src/process/bounded.ts';
import { nextTurn } from '../../src/process/slices.ts';
import { benchOperator } from './bench-operator.ts';
import { Figures, median, rssOf } from './figures.ts';
import { BenchWorld } from './operator-world.ts';

const serverCount = 10_000;
const portsPerServer = 10;
const configs = 10;
/** So many that wait for one cloud are looked at together (src/operator/flow/schedule/worker-lanes.ts). */
const atOnce = 4;
const sharers = 100;
/** Servers that they share: Neutron lists the ports of so many at a time. */
const shared = 100;
/** One round in five hits a long collection by V8. */
const rounds = 7;
const goals = { listings: 1, seconds: 10, peakMb: 400, blockedMs: 50 };
/** Longer than the operator believes a listing at this poll interval. */
const pauseMs = 1_100;

await using world = await BenchWorld.start();
console.log(`making ${serverCount} servers with ${portsPerServer} ports each`);
const furnished = await world.furnish(serverCount + shared, portsPerServer);
const { projectId, subnetId } = furnished;
const servers = furnished.servers.slice(shared);
const figures = new Figures();

async function shareOneListing(): Promise<void> {
  await using bench = await benchOperator(world, { POLL_FAST_INTERVAL: '10m' });
  const names = Array.from({ length: sharers }, (_, n) => `sharer-${n}`);
  const vmNames = furnished.servers.slice(0, shared);
  for (const name of names) bench.create(name, { subnetIDs: [subnetId], vmNames }, projectId);
  let listings = 0;
  // The one that looks first has them; the others say NameConflict, having seen the same ports.
  for (const name of names) {
    const { urls } = await bench.look(name);
    listings += urls.filter((url) => url.includes('device_id=')).length;
  }
  if (listings === 0) throw new Error(`nobody listed ports: ${bench.ready(names[0] ?? '')}`);
  figures.goal(`port lists for ${sharers} OpenstackConfigs`, listings, goals.listings, 'calls');
}

await shareOneListing();

await using bench = await benchOperator(world, { POLL_FAST_INTERVAL: '2s' });
const names = Array.from({ length: configs }, (_, n) => `part-${n}`);
const each = serverCount / configs;
for (const [n, name] of names.entries()) {
  const vmNames = servers.slice(n * each, (n + 1) * each);
  bench.create(name, { subnetIDs: [subnetId], vmNames }, projectId);
}

async function lookAtAll(): Promise<number> {
  const start = performance.now();
  await mapBounded(names, atOnce, async (name) => {
    await bench.look(name);
    // A worker that tells what it saw waits for the API server.
    await nextTurn();
    const ready = bench.ready(name);
    if (!ready.startsWith('True')) throw new Error(`${name}: ${ready}`);
  });
  return (performance.now() - start) / 1_000;
}

const coldSeconds = await lookAtAll();
/** What is measured is the time between two timers, so that an idle loop has this much. */
const resolution = 10;
const seconds: number[] = [];
const blockedMs: number[] = [];
for (let round = 0; round < rounds; round++) {
  await sleep(pauseMs);
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  seconds.push(await lookAtAll());
  delay.disable();
  blockedMs.push(delay.max / 1e6 - resolution);
}
const { rssMb, peakMb } = await rssOf(process.pid);
const title = `${serverCount} servers with ${portsPerServer} ports in ${configs} OpenstackConfigs`;
figures.note(`${title}: the first full sync`, `${coldSeconds.toFixed(1)} s`);
figures.goal(`${title}: a full sync without changes`, Math.max(...seconds), goals.seconds, 's');
figures.note('its RSS', `${rssMb} MB`);
figures.goal('its peak', peakMb, goals.peakMb, 'MB');
const block = 'longest block of the event loop';
figures.goal(`${block}, median of ${rounds} rounds`, median(blockedMs), goals.blockedMs, 'ms');
figures.note(`${block} in all rounds`, `${Math.max(...blockedMs).toFixed(0)} ms`);
figures.end();
