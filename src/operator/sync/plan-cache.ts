import { isDeepStrictEqual } from 'node:util';
import { calculateInSteps } from '../../plan/calculate.ts';
import type { Plan, PlanInput } from '../../plan/plan.ts';
import { BoundedMemory } from '../../process/bounded-memory.ts';
import { inSlices } from '../../process/slices.ts';
import type { Clock } from '../../time/clock.ts';

interface CachedPlan {
  readonly input: PlanInput;
  readonly plan: Plan;
}

/** Limit of all plans together. The memory of a plan and its input grows with its ports; 20,000 are some 7,000 servers. */
const mostPorts = 20_000;

/**
 * The last plan of each OpenstackConfig (`namespace/name`), shared because of the common limit. A plan is a pure function of
 * its input, so an equal input has an equal plan. Comparing is fast where lists hold the same objects as before: cached
 * pages do.
 */
export class PlanCache {
  readonly #clock: Clock;
  readonly #plans = new BoundedMemory<CachedPlan>(mostPorts);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the last plan if its input was equal and it needed no evidence, else a new plan. */
  async plan(key: string, input: PlanInput, signal: AbortSignal): Promise<Plan> {
    const cached = this.#plans.peek(key);
    if (cached && (await inSlices(isSameInSteps(cached.input, input), this.#clock, signal))) {
      this.#plans.touch(key);
      return cached.plan;
    }
    this.#plans.drop(key);
    const plan = await inSlices(calculateInSteps(input), this.#clock, signal);
    if (isAtRest(plan)) this.#plans.set(key, { input, plan }, plan.ports.length);
    return plan;
  }

  leave(key: string): void {
    this.#plans.drop(key);
  }
}

/** Whether the plan sends nothing, waits for nothing and needs no evidence: only then the next input may be equal. */
function isAtRest({ nodes, ask, askServers }: Plan): boolean {
  const isAsking = ask.length + askServers.length > 0;
  return !isAsking && nodes.every(({ action, waiting }) => action === 'none' && !waiting);
}

/** Depth of the items of an observation's lists in an input. */
const itemDepth = 3;

/** isDeepStrictEqual of two inputs in steps: thousands of ports that were parsed again take tens of milliseconds. */
function* isSameInSteps(a: unknown, b: unknown, depth = 0): Generator<undefined, boolean> {
  yield;
  if (a === b) return true;
  if (depth === itemDepth || !isObject(a) || !isObject(b)) return isDeepStrictEqual(a, b);
  if (!hasSameNames(a, b)) return false;
  for (const name of Object.keys(a)) {
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
