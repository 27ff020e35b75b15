// Mirrors what big-cluster.ts serves into the stores of the controller, lets ten lists come, and prints the memory as JSON.
//   controller-stores.ts URL
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { createStores, nodeConfigs, slimNode } from '../../src/controller/objects/stores.ts';
import { createReflector } from '../../src/kube/cache/reflector.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { nodes } from '../../src/kube/core-resources.ts';
import { systemClock } from '../../src/time/clock.ts';

const relists = 10;
/** Of two lists, jitter included. */
const apartMs = 800_000;

function megabytes(field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync('/proc/self/status', 'utf8');
  return Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024);
}

let passedMs = 0;
const clock = { ...systemClock, monotonicMs: () => performance.now() + passedMs };
/** Whole lists that have come. */
const lists = { done: 0 };
const client = createKubeClient({ server: process.argv[2] ?? '' }, { clock });
const counting: Pick<typeof client, 'list' | 'watch'> = {
  watch: (resource, options) => client.watch(resource, options),
  list: async (resource, options) => {
    const page = await client.list(resource, options);
    if (page.continue === undefined) lists.done++;
    return page;
  },
};
const common = {
  client: counting,
  clock,
  random: () => 0.5,
  onError: (error: unknown) => console.error(error),
};
const base = megabytes('VmRSS');
const { configs, nodes: nodeStore } = createStores();
const reflectors = [
  createReflector({ ...common, resource: nodeConfigs, store: configs }),
  createReflector({ ...common, resource: nodes, store: nodeStore, transform: slimNode }),
];
const stop = new AbortController();
const running = reflectors.map((reflector) => reflector.run(stop.signal));
await Promise.all(reflectors.map(({ synced }) => synced));
const synced = megabytes('VmRSS');
const cpu = process.cpuUsage();
for (let round = 1; round <= relists; round++) {
  passedMs += apartMs;
  const wanted = reflectors.length * (round + 1);
  for (;;) {
    await wait(50);
    if (lists.done >= wanted) break;
  }
}
const { user, system } = process.cpuUsage(cpu);
await wait(2_000);
const relisted = megabytes('VmRSS');
stop.abort();
await Promise.all(running);
await client[Symbol.asyncDispose]();
console.log(
  JSON.stringify({
    objects: configs.size + nodeStore.size,
    base,
    synced,
    relisted,
    peak: megabytes('VmHWM'),
    cpuPerRelistMs: Math.round((user + system) / 1000 / relists),
  }),
);
