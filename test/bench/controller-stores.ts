// Mirrors what big-cluster.ts serves into the stores of the controller, lets ten lists come, and prints as JSON the memory,
// and the heap that the budget for removals adds.
//   controller-stores.ts URL
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  createStores,
  type NodeConfig,
  nodeConfigs,
  slimNode,
} from '../../src/controller/objects/stores.ts';
import { createReflector } from '../../src/kube/cache/reflector.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { nodes } from '../../src/kube/core-resources.ts';
import { systemClock } from '../../src/time/clock.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

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
const stores = createStores();
const { configs, nodes: nodeStore } = stores;

/** An object as its agent's run left it, with the record's other fields from `more`. */
function recorded({ metadata, ...config }: NodeConfig, more: object = {}): NodeConfig {
  const { name, uid = '' } = metadata;
  const owner = { objectUid: uid, nodeName: name, nodeUid: uid, knownFrom: { uid, job: name } };
  const run = { action: 'apply', content: uid, job: name, attempt: 1, protocol: 4, done: true };
  const nics = config.status?.interfaceStatuses ?? [];
  const requested = nics.flatMap(({ macAddress = [] }) => macAddress);
  const source = JSON.stringify({ uid: config.spec?.providerId });
  return {
    ...config,
    metadata: { ...metadata, annotations: { 'multinic.io/source': source } },
    status: {
      ...config.status,
      applied: { ...run, ...owner, requested, at: new Date().toISOString(), ...more },
      knownInterfaces: nics.map(({ id = 0, macAddress = '' }) => ({ id, macAddress })),
    },
  };
}

/** An object whose NICs its agent has just removed. */
function removed(config: NodeConfig): NodeConfig {
  const at = new Date().toISOString();
  const nics = config.status?.interfaceStatuses ?? [];
  const removals = nics.map(({ macAddress: mac }) => ({ mac, basis: 'named', at }));
  const { status, ...object } = recorded(config, { removed: removals });
  return { ...object, status: { ...status, knownInterfaces: [] } };
}

function deleted(config: NodeConfig): NodeConfig {
  const { metadata, ...object } = recorded(config);
  return { ...object, metadata: { ...metadata, deletionTimestamp: new Date().toISOString() } };
}

/** Returns the heap of a budget for removals that has counted all objects, each changed by `change`, in MB. */
async function budgetHeap(change: (config: NodeConfig) => NodeConfig): Promise<number> {
  // Loaded late: its code is no part of the RSS above.
  const { createBudget } = await import('../../src/controller/removals/budget.ts');
  const before = liveHeap();
  const budget = createBudget({ stores, ledger: { version: 1 }, clock: systemClock });
  budget.follow({
    subscribe: (listener) => {
      for (const key of configs.keys()) {
        const config = configs.get(key);
        if (config) listener({ type: 'added', key, object: change(config) });
      }
      return () => undefined;
    },
  });
  const nics = () => budget.clusterUse([]).find(({ scope }) => scope === 'clusterNics')?.total;
  nics();
  const bytes = liveHeap() - before;
  // NICs of objects whose Node is missing count only once they are removed.
  if ((nics() ?? 0) < 3 * nodeStore.size) throw new Error(`the budget has ${nics()} NICs`);
  return Number((bytes / 1024 / 1024).toFixed(2));
}

/** Returns the heap of a budget by state of all objects. */
async function budgetHeaps() {
  return {
    unchanged: await budgetHeap((config) => recorded(config)),
    deleted: await budgetHeap(deleted),
    removed: await budgetHeap(removed),
  };
}

function liveHeap(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

const base = megabytes('VmRSS');
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
const peak = megabytes('VmHWM');
// The first round compiles the code.
await budgetHeaps();
const budgetMb = await budgetHeaps();
stop.abort();
await Promise.all(running);
await client[Symbol.asyncDispose]();
console.log(
  JSON.stringify({
    objects: configs.size + nodeStore.size,
    base,
    synced,
    relisted,
    peak,
    budgetMb,
    cpuPerRelistMs: Math.round((user + system) / 1000 / relists),
  }),
);
