import { isDeepStrictEqual } from 'node:util';
import { calculateInSteps } from '../../plan/calculate.ts';
import type { Plan, PlanInput } from '../../plan/plan.ts';
import { BoundedMemory } from '../../process/bounded-memory.ts';
import { inSlices } from '../../process/slices.ts';
import type { Clock } from '../../time/clock.ts';

interface Known {
  readonly input: PlanInput;
  readonly plan: Plan;
}

/** The memory of a plan and its input grows with its ports: those of some 7,000 servers. */
const mostPorts = 20_000;

/**
 * The last plan of each OpenstackConfig. A plan is a pure function of its input, so that an equal input, whatever it is made of, has the
 * same plan. Comparing is quick where lists hold the same objects as before, as they do when pages had the same bytes.
 */
export class PlanMemory {
  readonly #clock: Clock;
  readonly #plans = new BoundedMemory<Known>(mostPorts);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The plan of this input: the last one when that had the same input and left no question open, else a new one. */
  async plan(key: string, input: PlanInput, signal: AbortSignal): Promise<Plan> {
    const known = this.#plans.peek(key);
    if (known && (await inSlices(isSameInSteps(known.input, input), this.#clock, signal))) {
      this.#plans.touch(key);
      return known.plan;
    }
    this.#plans.drop(key);
    const plan = await inSlices(calculateInSteps(input), this.#clock, signal);
    if (isAtRest(plan)) this.#plans.set(key, { input, plan }, plan.ports.length);
    return plan;
  }

  forget(key: string): void {
    this.#plans.drop(key);
  }
}

/** Whether the plan sends nothing, waits for nothing and asks for no evidence: only then the next one may have the same input. */
function isAtRest({ nodes, ask, askServers }: Plan): boolean {
  const isAsking = ask.length + askServers.length > 0;
  return !isAsking && nodes.every(({ action, waiting }) => action === 'none' && !waiting);
}

/** The items of the lists in an observation are so deep in an input. */
const itemDepth = 3;

/** isDeepStrictEqual of the inputs of two plans, item by item: thousands of ports that were parsed anew take tens of milliseconds. */
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
