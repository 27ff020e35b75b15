import type { Effect } from '../../../src/api/effects.ts';
import type { NodeConfig } from '../../../src/controller/objects/stores.ts';
import { settled } from '../../../src/time/fake-clock.ts';
import type { ControllerFixture } from '../../fixtures/controller.ts';
import { randomOf } from '../leaders/contest.ts';
import { endStateOf } from './end-state.ts';
import {
  type Fault,
  type FaultKind,
  type FaultOfAll,
  isChange,
  type Plan,
  type Step,
  withoutFaults,
} from './plan.ts';
import { Watch } from './watch.ts';
import { FaultyCluster } from './world.ts';

export interface PlanResult {
  /** What went wrong, one line each; empty when nothing did. */
  readonly flaws: readonly string[];
  /** Faults that met something, and how often. */
  readonly met: ReadonlyMap<FaultKind, number>;
  readonly changes: number;
  readonly jobs: number;
  /** Most Jobs of one node within a minute. */
  readonly burst: number;
  /** Time that passed in the plan. */
  readonly lastedMs: number;
  /** Until the end state was reached after the last fault. */
  readonly healedMs: number;
}

/** Time that passes at once while something happens, and while everybody waits. */
const stepMs = 500;
const idleStepMs = 5_000;
/** So long everything may take after the last fault: what no watch told is found by the list that comes every ten minutes. */
const patienceMs = 40 * 60_000;
/** So long the end state has to last. */
const lastsMs = 30_000;

/** Runs a plan twice, with its faults and without, and compares where that ends. */
export async function runPlan(bed: ControllerFixture, plan: Plan): Promise<PlanResult> {
  const clean = await new Run(bed, withoutFaults(plan)).toEnd(undefined);
  const run = new Run(bed, plan);
  const end = await run.toEnd(clean.state);
  const flaws = [...clean.flaws.map((flaw) => `clean run: ${flaw}`), ...end.flaws];
  return { ...run.result(), flaws, healedMs: end.healedMs };
}

interface End {
  readonly state: string;
  readonly flaws: readonly string[];
  readonly healedMs: number;
}

class Run {
  readonly #bed: ControllerFixture;
  readonly #plan: Plan;
  readonly #world: FaultyCluster;
  readonly #watch: Watch;
  readonly #met = new Map<FaultKind, number>();
  readonly #startedAt: number;

  constructor(bed: ControllerFixture, plan: Plan) {
    this.#bed = bed;
    this.#plan = plan;
    this.#startedAt = bed.clock.monotonicMs();
    const met = (kind: FaultKind) => void this.#met.set(kind, 1 + (this.#met.get(kind) ?? 0));
    this.#world = new FaultyCluster(bed, randomOf(plan.seed), met);
    this.#watch = new Watch(bed, this.#world);
  }

  result() {
    const { jobs, burst } = this.#watch;
    const changes = this.#plan.steps.filter(isChange).length;
    const lastedMs = this.#bed.clock.monotonicMs() - this.#startedAt;
    return { met: this.#met, changes, jobs, burst, lastedMs };
  }

  /** Runs until the end state is `wanted`, or, of a clean run, until all that is asked for is in force. */
  async toEnd(wanted: string | undefined): Promise<End> {
    await this.#world.open();
    this.#bed.run();
    for (const step of this.#plan.steps) {
      await this.#take(step);
      await this.#pass(step.afterMs, stepMs);
      if (wanted === undefined) await this.#until(() => this.#isInForce());
    }
    await this.#world.heal();
    const from = this.#bed.clock.monotonicMs();
    await this.#until(() => this.#isInForce() && (wanted ?? this.#state()) === this.#state());
    const healedMs = this.#bed.clock.monotonicMs() - from;
    if (wanted !== undefined) await this.#pass(lastsMs, idleStepMs);
    const state = this.#state();
    const flaws = [...this.#watch.flaws, ...this.#differences(state, wanted)];
    await this.#bed.stop();
    await this.#world.close();
    await settled();
    return { state, flaws, healedMs };
  }

  #differences(state: string, wanted: string | undefined): string[] {
    if (wanted !== undefined && state !== wanted) {
      return [`ends otherwise than the clean run:\n${state}\nclean:\n${wanted}`];
    }
    return this.#isInForce() ? [] : [`what is asked for is not in force:\n${state}`];
  }

  #state(): string {
    return endStateOf(this.#world, this.#bed);
  }

  #isInForce(): boolean {
    return this.#world.delivered && this.#world.configs().every(isReady);
  }

  async #until(holds: () => boolean): Promise<void> {
    const { clock } = this.#bed;
    const from = clock.monotonicMs();
    while (!holds() && clock.monotonicMs() - from < patienceMs) {
      const quick = clock.monotonicMs() - from < 30_000;
      await this.#pass(0, quick ? stepMs : idleStepMs);
    }
  }

  /** Lets time pass, at least one step, while everybody does his work. */
  async #pass(ms: number, step: number): Promise<void> {
    const { clock, agents } = this.#bed;
    const end = clock.monotonicMs() + ms;
    do {
      await this.#world.proceed();
      await agents.work(this.#bed.pods());
      await this.#settle();
      await clock.advance(step);
      await this.#settle();
      if (this.#bed.stopped) await this.#restart();
      this.#watch.look();
    } while (clock.monotonicMs() < end);
  }

  /** Until no answer is on its way and nobody has anything to do before time passes. */
  async #settle(): Promise<void> {
    const limit = performance.now() + 60_000;
    for (let quiet = 0; quiet < 3; quiet++) {
      await settled();
      if (this.#world.connection.busy > 0) quiet = 0;
      if (performance.now() > limit) throw new Error('the server does not answer');
    }
  }

  async #take(step: Step): Promise<void> {
    if (isChange(step)) this.#world.change(step);
    else await this.#fail(step);
  }

  async #fail(fault: Fault): Promise<void> {
    const { connection } = this.#world;
    if ('plural' in fault) return connection.arm(fault);
    if ('forMs' in fault && 'node' in fault) return this.#world.fail(fault);
    if ('node' in fault) {
      const { faults } = this.#world.host(fault.node);
      for (let i = 0; i < fault.times; i++) faults.push(fault.kind);
      return;
    }
    return this.#failOnce(fault);
  }

  async #failOnce(fault: FaultOfAll): Promise<void> {
    switch (fault.kind) {
      case 'crash':
        return this.#crash(fault);
      case 'clock':
      case 'node-clock':
        return this.#setClock(fault);
      case 'pause':
        this.#count('pause');
        return this.#bed.clock.advance(fault.forMs);
      case 'job-deleted':
      case 'config-map-deleted':
        return this.#world.deleteByHand(fault.kind);
      case 'cut':
      case 'relist':
      case 'stale-list':
        return this.#breakWatches(fault.kind);
      default:
        return fault satisfies never;
    }
  }

  #setClock({ kind, byMs }: Extract<Fault, { byMs: number }>): void {
    if (kind === 'clock') this.#bed.wallOffsetMs += byMs;
    else this.#bed.agents.clockSkewMs += byMs;
    this.#count(kind);
  }

  #breakWatches(kind: 'cut' | 'relist' | 'stale-list'): void {
    if (kind !== 'cut') this.#world.connection.expire(kind === 'stale-list');
    if (this.#bed.api.faults.dropWatches() > 0 && kind === 'cut') this.#count('cut');
  }

  async #crash({ at, phase }: Extract<Fault, { kind: 'crash' }>): Promise<void> {
    if (at === undefined) return this.#restart();
    this.#bed.onEffect = (effect: Effect, when) => {
      if (effect === at && when === phase) throw new Error(`dies ${phase} ${effect}`);
    };
  }

  async #restart(): Promise<void> {
    this.#count('crash');
    this.#bed.onEffect = () => undefined;
    await this.#bed.stop();
    this.#bed.run();
  }

  #count(kind: FaultKind): void {
    this.#met.set(kind, 1 + (this.#met.get(kind) ?? 0));
  }
}

function isReady({ metadata, status }: NodeConfig): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' && status?.observedGeneration === metadata.generation;
}
