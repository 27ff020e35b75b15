import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { PostedNode } from '../../api/node-configs-http.ts';
import { budgetWindowMs } from '../../api/removals.ts';
import { isRequestError } from '../../requests/request-error.ts';
import { attach, detach, type Scene, setScene } from '../testing/scene.ts';

const servers = Array.from({ length: 6 }, (_, n) => `00000000-0000-4000-8000-00000000010${n}`);
const nicsPerServer = 4;
const portOf = (mac: string) => `p${Number.parseInt(mac.slice(-2), 16)}`;

/** Removal of one NIC by a POST or DELETE. */
interface Removed {
  readonly at: number;
  readonly node: string;
  readonly mac: string;
  readonly basis: string;
}

/** Watches what leaves the business cluster, and why. */
class Watch {
  readonly removed: Removed[] = [];
  readonly flaws: string[] = [];
  /** Generation and time of the last consent. */
  consent: { readonly generation: number; readonly at: number } | undefined;
  readonly #scene: Scene;

  constructor(scene: Scene) {
    this.#scene = scene;
    const { viola } = scene;
    const post = viola.post.bind(viola);
    const remove = viola.remove.bind(viola);
    viola.post = async (nodes) => {
      const before = new Map(nodes.map((node) => [node.nodeName, this.#macs(node.nodeName)]));
      const answer = await post(nodes);
      const accepted = new Set(answer.results.map(({ nodeName }) => nodeName));
      for (const node of nodes.filter(({ nodeName }) => accepted.has(nodeName))) {
        this.#posted(node, before.get(node.nodeName) ?? []);
      }
      return answer;
    };
    viola.remove = async (nodeName, base, why) => {
      const isFirst = viola.nodes.get(nodeName)?.deletionTimestamp === undefined;
      const macs = isFirst ? this.#macs(nodeName) : [];
      const outcome = await remove(nodeName, base, why);
      if (outcome === 'leaving')
        for (const mac of macs) this.#note(nodeName, mac, why?.basis ?? '');
      return outcome;
    };
  }

  #macs(nodeName: string): string[] {
    const { interfaces = [] } = this.#scene.viola.nodes.get(nodeName)?.spec ?? {};
    return interfaces.map(({ macAddress }) => macAddress);
  }

  #posted({ nodeName, interfaces = [], removals }: PostedNode, before: readonly string[]): void {
    const after = new Set(interfaces.map(({ macAddress }) => macAddress));
    for (const mac of before.filter((one) => !after.has(one))) {
      const basis = removals?.proven.includes(mac) ? 'evidence' : 'named';
      this.#note(nodeName, mac, removals?.consented.includes(mac) ? 'consent' : basis);
    }
  }

  #note(node: string, mac: string, basis: string): void {
    const at = this.#scene.clock.monotonicMs();
    this.removed.push({ at, node, mac, basis });
    this.#check(basis, mac, at);
    const recent = this.removed.filter(
      (one) => one.basis === 'named' && at - one.at < budgetWindowMs - 1_000,
    );
    const nodes = new Set(recent.map((one) => one.node)).size;
    if (recent.length > 10 || nodes > 3) {
      this.flaws.push(`${recent.length} NICs on ${nodes} nodes removed by name within an hour`);
    }
  }

  #check(basis: string, mac: string, at: number): void {
    const { cloud } = this.#scene;
    const isAttached = cloud.ports.some(
      ({ id, deviceId }) => id === portOf(mac) && deviceId !== '',
    );
    if (basis === 'evidence' && isAttached) this.flaws.push(`${mac} is attached`);
    if (basis !== 'consent') return;
    const { generation = 0, at: since = 0 } = this.consent ?? {};
    const isPresent = generation === this.#scene.object()?.metadata.generation;
    if (!isPresent || at - since > budgetWindowMs) this.flaws.push(`${mac}: no consent`);
  }
}

type Act = (scene: Scene, watch: Watch) => unknown;

const subnetChoices = [['sub-a'], ['sub-b'], ['sub-a', 'sub-b']];
let selection = { vmNames: servers, subnetIDs: ['sub-a', 'sub-b'] };

function edit(scene: Scene, change: Partial<typeof selection>): void {
  selection = { ...selection, ...change };
  scene.edit(selection);
}

const act = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(...subnetChoices).map(
      (subnetIDs): Act =>
        (scene) =>
          edit(scene, { subnetIDs }),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.subarray(servers).map(
      (vmNames): Act =>
        (scene) =>
          edit(scene, { vmNames }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.integer({ min: 1, max: servers.length * nicsPerServer }).map(
      (n): Act =>
        ({ cloud }) =>
          detach(cloud, n),
    ),
  },
  { weight: 2, arbitrary: fc.constant<Act>((scene) => scene.restart()) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(1, 20, 50, 70).map(
      (minutes): Act =>
        async (scene) =>
          scene.look(minutes * 60_000),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('w-0', 'w-1').map(
      (name): Act =>
        ({ viola }) => {
          if (!viola.refused.delete(name)) viola.refused.set(name, 'FieldConflict');
        },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constant<Act>(async (scene) => {
      scene.viola.stick();
      await scene.look();
      // The operator gave up this POST; the business cluster stores it now.
      await scene.viola.unstick().catch((error: unknown) => {
        if (!isRequestError(error, 'timeout')) throw error;
      });
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constant<Act>(async (scene) => {
      scene.cloud.fail('portsOf', 'serverError');
      await scene.look();
      scene.cloud.heal();
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constant<Act>(async (scene) => {
      const kill = new Error('killed');
      scene.killAt(scene.effects.length + 2, kill);
      await scene.look().catch((error: unknown) => {
        if (error !== kill) throw error;
      });
      scene.restart();
    }),
  },
  {
    weight: 2,
    arbitrary: fc.integer().map(
      (value): Act =>
        (scene, watch) => {
          const { generation = 0 } = scene.object()?.metadata ?? {};
          const isReported = scene.ready().includes('RemovalHeld');
          if (isReported) watch.consent = { generation, at: scene.clock.monotonicMs() };
          scene.kube.annotate({ 'multinic.io/allow-removals': `value ${value}` });
        },
    ),
  },
  { weight: 2, arbitrary: fc.constant<Act>(({ viola }) => viola.clean()) },
);

async function live(acts: readonly Act[]): Promise<readonly string[]> {
  await using scene = await setScene();
  selection = { vmNames: servers, subnetIDs: ['sub-a', 'sub-b'] };
  scene.cloud.vms = servers.map((id, n) => ({
    id,
    name: `w-${n}`,
    status: 'ACTIVE',
    metadata: {},
  }));
  for (let n = 1; n <= servers.length * nicsPerServer; n++) {
    attach(scene.cloud, n, 1);
    const port = scene.cloud.ports.pop();
    const inB = {
      networkId: 'net-b',
      fixedIps: [{ subnetId: 'sub-b', ipAddress: `10.0.20.${n}` }],
    };
    const deviceId = servers[n % servers.length] ?? '';
    if (port) scene.cloud.ports.push({ ...port, deviceId, ...(n % 2 === 0 ? inB : {}) });
  }
  scene.create(selection);
  await scene.look();
  const watch = new Watch(scene);
  for (const one of acts) {
    await one(scene, watch);
    await scene.look();
  }
  counts.push(...watch.removed.map(({ basis }) => basis));
  return watch.flaws;
}

const counts: string[] = [];

it('random lives remove NICs only with evidence, with consent or within the budget of an hour', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 3, maxLength: 14 }), async (acts) => {
      expect(await live(acts)).toEqual([]);
    }),
    { numRuns: Number(process.env['LIVES'] ?? 60), seed: Number(process.env['SEED'] ?? 7) },
  );
  expect(new Set(counts)).toEqual(new Set(['named', 'evidence', 'consent']));
}, 600_000);
