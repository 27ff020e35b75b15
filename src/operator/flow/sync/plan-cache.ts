import { isDeepStrictEqual } from 'node:util';
import { type Calculation, calculateInSteps } from '../../../plan/calculate.ts';
import type { Plan, PlanInput } from '../../../plan/plan.ts';
import { BoundedMemory } from '../../../process/bounded-memory.ts';
import { inSlices } from '../../../process/slices.ts';
import type { Clock } from '../../../time/clock.ts';

interface CachedPlan extends Calculation {
  readonly input: PlanInput;
}

/**
 * Limit for all plans together. Memory per plan and input grows with the port count; 20,000 ports are about
 * 7,000 servers.
 */
const mostPorts = 20_000;

/**
 * The last plan per OpenstackConfig (`namespace/name`), in a shared cache because the limit is common. A plan
 * is a pure function: an equal input has an equal plan. Comparing is fast when lists hold the same objects as
 * before, as in cached pages.
 */
export class PlanCache {
  readonly #clock: Clock;
  readonly #plans = new BoundedMemory<CachedPlan>(mostPorts);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns the last plan if its input was equal and no evidence was necessary, otherwise a new plan. In a new plan,
   * nodes without changes keep their last plans.
   */
  async plan(key: string, input: PlanInput, signal: AbortSignal): Promise<Calculation> {
    const cached = this.#plans.peek(key);
    if (cached && (await this.#isEqual(cached, input, signal))) {
      // The new input shares objects with further caches; the former input and its node plans would add copies.
      const { plan } = cached;
      this.#plans.set(key, { input, plan }, plan.ports.length);
      return { plan };
    }
    this.#plans.drop(key);
    const steps = calculateInSteps(input, cached?.nodePlans);
    const { plan, nodePlans } = await inSlices(steps, this.#clock, signal);
    this.#plans.set(key, { input, plan, nodePlans }, plan.ports.length);
    return { plan, nodePlans };
  }

  async #isEqual({ input: last, plan }: CachedPlan, input: PlanInput, signal: AbortSignal) {
    return isAtRest(plan) && (await inSlices(isSameInSteps(last, input), this.#clock, signal));
  }

  leave(key: string): void {
    this.#plans.drop(key);
  }
}

/**
 * Returns whether the plan sends nothing, waits for nothing and needs no evidence: only then may the next
 * input be equal.
 */
function isAtRest({ nodes, ask, askServers }: Plan): boolean {
  const needsEvidence = ask.length + askServers.length > 0;
  return !needsEvidence && nodes.every(({ action, waiting }) => action === 'none' && !waiting);
}

/** Depth of list items from `observation` in an input. */
const itemDepth = 3;

/**
 * Compares two inputs like isDeepStrictEqual, but in steps: comparing thousands of freshly parsed ports takes
 * tens of milliseconds.
 */
function* isSameInSteps(a: unknown, b: unknown, depth = 0): Generator<undefined, boolean> {
  yield;
  if (a === b) return true;
  if (depth === itemDepth || !isObject(a) || !isObject(b)) return isDeepStrictEqual(a, b);
  if (!hasSameNames(a, b)) return false;
  for (const name of Object.keys(a)) {
    // Most items are identical objects: thousands need no own step.
    if (a[name] === b[name]) continue;
    if (!(yield* isSameInSteps(a[name], b[name], depth + 1))) return false;
  }
  return true;
}

function hasSameNames(a: object, b: object): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length;
  const names = Object.keys(a);
  const isOneList = Array.isArray(a) || Array.isArray(b);
  return (
    !isOneList &&
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name))
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
