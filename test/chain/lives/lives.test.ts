import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { prepareBusiness, registerCluster } from '../../../rig/chain/clusters.ts';
import { findCondition } from '../../../src/api/condition.ts';
import type { MultiNicNodeConfig } from '../../../src/api/multinicnodeconfig.ts';
import type { OpenstackConfig } from '../../../src/api/openstackconfig.ts';
import { generous, nodeConfigObjectOf, openstackConfigOf } from '../../fixtures/chain/waits.ts';
import {
  openCluster,
  openWorld,
  type Worker,
  type World,
  writerOf,
} from '../../fixtures/chain/world.ts';
import { acts, type Life, mend } from '../../fixtures/lives/acts.ts';
import { hostNicsOf, Observer } from '../../fixtures/lives/observer.ts';
import { randomOf } from '../../property/leaders/contest.ts';
import { commits } from '../../rotation.ts';

// Random actions on two OpenstackConfigs with real parts and agents. NIC presence is read from the host.
const isLong = process.env['MULTINIC_TEST_DEPTH'] === 'all';
/** Regression: NICs were lost when an object in a former cluster was given a different server. */
const onceRed = [95901];
const lives = isLong ? 12 : 1;
const actsPerLife = isLong ? 24 : 8;
// CI uses fixed seeds; the long suite uses new seeds with each commit.
const firstSeed = Number(process.env['MULTINIC_LIVES_SEED'] ?? (isLong ? commits() * 100 : 1));

let world: World;
let observer: Observer;
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  world = stack.use(await openWorld(['worker-1', 'worker-2']));
  const second = await openCluster('second', world.directory, stack);
  await prepareBusiness(second.client);
  await registerCluster(world.management.client, 'second', await writerOf(second.server));
  observer = new Observer(world);
  const stop = new AbortController();
  const observing = observer.run(stop.signal);
  stack.defer(async () => {
    stop.abort();
    await observing;
  });
});

afterAll(() => stack.disposeAsync());

const ports: Life['ports'] = new Map();

async function expectSettled(worker: Worker): Promise<void> {
  const macs = [...(ports.get(worker.name)?.values() ?? [])].toSorted();
  expect([...(await hostNicsOf(worker)).keys()].toSorted()).toEqual(macs);
  const config = openstackConfigOf(world, worker);
  expect(said(config, 'Ready')).toBe('True');
  if (macs.length === 0) return;
  expect(said(config, 'NICsReady')).toBe('True');
  expect(said(nodeConfigObjectOf(world, worker), 'Ready')).toBe('True');
}

function said(object: OpenstackConfig | MultiNicNodeConfig | undefined, type: string) {
  return findCondition(object?.status?.conditions, type)?.status;
}

/** Waits until every port is a NIC on its host and every status agrees. */
async function settle(): Promise<void> {
  await vi.waitFor(() => Promise.all(world.workers.map(expectSettled)), generous);
  observer.settled();
}

it.each([...onceRed, ...Array.from({ length: lives }, (_, n) => firstSeed + n)])(
  'no NIC leaves a node without evidence or consent, and no status is better than its host (seed %i)',
  async (seed) => {
    const random = randomOf(seed);
    const life: Life = { world, observer, random, ports, edits: new Map() };
    const names = Object.keys(acts);
    const log: string[] = [];
    await mend(life);
    for (const worker of world.workers) await acts['attachPort']?.(life, worker);
    await settle();
    for (let n = 0; n < actsPerLife; n++) {
      const name = names[Math.floor(random() ** 1.5 * names.length)] ?? '';
      const worker = world.workers[random() < 0.5 ? 0 : 1];
      if (!worker) continue;
      log.push(`${name} ${worker.name}`);
      await acts[name]?.(life, worker);
      await new Promise((resolve) => setTimeout(resolve, 3_000 * random()));
    }
    await mend(life);
    await settle().catch((error: unknown) => {
      throw new Error(`seed ${seed}: ${log.join(', ')}`, { cause: error });
    });
    expect(observer.flaws, `seed ${seed}: ${log.join(', ')}`).toEqual([]);
  },
);
