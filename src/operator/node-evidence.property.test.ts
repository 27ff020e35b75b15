import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { findCondition } from '../api/condition.ts';
import { delivered, type Scene, setScene } from './testing/scene.ts';

const types = ['NICsReady', 'Delivered'] as const;
const services = ['keystone', 'neutron', 'nova', 'viola'] as const;
const names = ['worker-1', 'worker-2'];
const tickMs = 5_000;
const longestMs = 180_000;

type Service = (typeof services)[number];

const step = fc.record({
  act: fc.oneof(
    fc.record({ kind: fc.constant('outage' as const), service: fc.constantFrom(...services) }),
    fc.record({ kind: fc.constant('recovery' as const), service: fc.constantFrom(...services) }),
    fc.record({
      kind: fc.constant('nics' as const),
      state: fc.constantFrom('Configured' as const, 'Failed' as const),
    }),
    fc.record({ kind: fc.constant('pause' as const), isPaused: fc.boolean() }),
    fc.record({
      kind: fc.constant('mode' as const),
      mode: fc.constantFrom('immediate', 'manual', 'webhook'),
    }),
    fc.record({
      kind: fc.constantFrom('deletion' as const, 'edit' as const),
      node: fc.constantFrom(...names),
    }),
    fc.record({ kind: fc.constant('restart' as const) }),
  ),
  ticks: fc.integer({ min: 1, max: 60 }),
});

type Step = (typeof step extends fc.Arbitrary<infer T> ? T : never)['act'];

/** The operator's queue, a controller and a user, around a scene. */
class World {
  readonly flaws: string[] = [];
  readonly #scene: Scene;
  readonly #down = new Set<Service>();
  #nics: 'Configured' | 'Failed' = 'Configured';
  #dueMs = 0;
  /** Last time at which Viola showed the state of a True condition. */
  readonly #goodAt = { NICsReady: 0, Delivered: 0 };

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  async do(act: Step): Promise<void> {
    if (act.kind === 'outage') this.#down.add(act.service);
    if (act.kind === 'recovery') this.#down.delete(act.service);
    if (act.kind === 'nics') this.#nics = act.state;
    if (act.kind === 'deletion') this.#scene.viola.nodes.delete(act.node);
    if (act.kind === 'edit') this.#edit(act.node);
    this.#applyOutages();
    if (this.#reconfigure(act)) await this.#reconcile();
  }

  /** Changes the object, the trigger mode or the process; returns whether the operator reconciles at once. */
  #reconfigure(act: Step): boolean {
    const { kube } = this.#scene;
    if (act.kind === 'pause') kube.annotate({ 'multinic.io/paused': String(act.isPaused) });
    if (act.kind === 'mode') this.#scene.trigger(`mode: ${act.mode}`);
    if (act.kind === 'restart') this.#scene.restart();
    return ['pause', 'mode', 'restart'].includes(act.kind);
  }

  /** Ends all outages and pauses, and requests a sync. */
  async recover(): Promise<void> {
    this.#down.clear();
    this.#applyOutages();
    this.#nics = 'Configured';
    this.#scene.kube.annotate({ 'multinic.io/paused': 'false', 'multinic.io/reconcile-at': 'now' });
    await this.#reconcile();
  }

  async pass(ticks: number): Promise<void> {
    for (let n = 0; n < ticks; n++) {
      this.#scene.viola.report(this.#nics);
      this.#noteTruth();
      await this.#scene.readNodes(tickMs);
      if (this.#scene.clock.monotonicMs() >= this.#dueMs) await this.#reconcile();
      // A sync may have sent a node.
      this.#noteTruth();
      this.#check();
    }
  }

  async #reconcile(): Promise<void> {
    const ms = await this.#scene.reconcile(0);
    this.#dueMs = this.#scene.clock.monotonicMs() + (ms ?? Number.POSITIVE_INFINITY);
  }

  #applyOutages(): void {
    const { cloud, viola } = this.#scene;
    cloud.heal();
    if (this.#down.has('nova')) cloud.fail('servers', 'unreachable');
    if (this.#down.has('neutron')) cloud.fail('portsOf', 'unreachable');
    for (const call of this.#down.has('keystone') ? ['portsOf', 'servers', 'subnet'] : [])
      cloud.fail(call, 'unauthorized', 'keystone');
    if (this.#down.has('viola')) viola.fail(503);
    else viola.outage = undefined;
  }

  #edit(nodeName: string): void {
    const { viola } = this.#scene;
    const node = viola.nodes.get(nodeName);
    const interfaces = node?.spec.interfaces?.map((nic) => ({ ...nic, mtu: 1_400 }));
    if (!node || !interfaces) return;
    viola.put({ ...node, generation: node.generation + 1, spec: { ...node.spec, interfaces } });
  }

  #noteTruth(): void {
    if (this.#down.has('viola')) return;
    const { viola, clock } = this.#scene;
    const isPlanned = names.every((name) => {
      const [nic] = viola.nodes.get(name)?.spec.interfaces ?? [];
      return nic !== undefined && nic.mtu !== 1_400;
    });
    const at = clock.monotonicMs();
    if (isPlanned) this.#goodAt.Delivered = at;
    if (isPlanned && this.#nics === 'Configured') this.#goodAt.NICsReady = at;
  }

  #check(): void {
    const { conditions } = this.#scene.status();
    for (const type of types) {
      const age = this.#scene.clock.monotonicMs() - this.#goodAt[type];
      const isTrue = findCondition(conditions, type)?.status === 'True';
      if (isTrue && age > longestMs) this.flaws.push(`${type} is True with evidence of ${age} ms`);
    }
  }
}

it('NICsReady and Delivered are never True with evidence older than three minutes, and are True after the outages', async () => {
  const lives = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
    const scene = await setScene();
    await delivered(scene);
    const world = new World(scene);
    await world.pass(6);
    for (const { act, ticks } of steps) {
      await world.do(act);
      await world.pass(ticks);
    }
    await world.recover();
    await world.pass(60);
    const ends = types.map((type) => `${type} ${scene.condition(type)?.status}`);
    await scene[Symbol.asyncDispose]();
    expect([...world.flaws, ...ends]).toEqual(['NICsReady True', 'Delivered True']);
  });
  await fc.assert(lives, { numRuns: 100 });
}, 60_000);
