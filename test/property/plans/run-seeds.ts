import { ControllerFixture } from '../../fixtures/controller.ts';
import { type Plan, planOf } from './plan.ts';
import { type PlanResult, runPlan } from './run-plan.ts';
import type { Totals } from './totals.ts';

/** Plans that share an API server: its history and its audit grow with each. */
const plansPerBed = 25;

/** Runs the plans of so many seeds one after the other; a failing one is made smaller and told. */
export async function runSeeds(
  first: number,
  count: number,
  totals: Totals,
  tell: (line: string) => void,
): Promise<void> {
  for (let from = first; from < first + count; from += plansPerBed) {
    const failed: Failed[] = [];
    const until = Math.min(from + plansPerBed, first + count);
    await using bed = await ControllerFixture.start();
    for (let seed = from; seed < until; seed++) {
      const plan = planOf(seed);
      const result = await runPlan(bed, plan);
      totals.add(result);
      if (result.flaws.length > 0) failed.push({ plan, flaws: result.flaws });
    }
    for (const one of failed) {
      const text = await explain(one);
      totals.fail(text);
      tell(text);
    }
  }
}

interface Failed {
  readonly plan: Plan;
  readonly flaws: readonly string[];
}

/** The seed, the smallest plan found that fails too, and what goes wrong in it. */
async function explain({ plan, flaws: seen }: Failed): Promise<string> {
  let smallest = plan;
  let { flaws } = await alone(plan);
  if (flaws.length === 0) {
    return [`seed ${plan.seed} failed, and not when it was run alone:`, ...seen].join('\n');
  }
  for (let at = smallest.steps.length - 1; at >= 0; at--) {
    const smaller = { ...smallest, steps: smallest.steps.filter((_, step) => step !== at) };
    const result = await alone(smaller);
    if (result.flaws.length === 0) continue;
    [smallest, flaws] = [smaller, result.flaws];
  }
  const steps = smallest.steps.map((step) => `  ${JSON.stringify(step)}`);
  return [`seed ${plan.seed}, smallest plan:`, ...steps, ...flaws].join('\n');
}

async function alone(plan: Plan): Promise<PlanResult> {
  await using bed = await ControllerFixture.start();
  return await runPlan(bed, plan);
}
