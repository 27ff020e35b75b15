import { hostAfterRemoval } from './after-removal.ts';
import type { PlanInput } from './candidates.ts';
import { planApply } from './plan-apply.ts';
import { planRemoval } from './plan-removal.ts';
import { type Plan, stateAfter } from './unit.ts';

/** All that a request asks for: removals first, as they free names and tables, then the rest on what they leave. */
export interface WholePlan {
  readonly removal: Plan;
  readonly apply: Plan;
}

export function planAll(input: PlanInput): WholePlan {
  const { request, state, host } = input;
  const removal = planRemoval(input);
  if (request.action === 'cleanup') return { removal, apply: { units: [], refused: [] } };
  const kept = removal.units.reduce(stateAfter, state);
  const after = hostAfterRemoval(host, removal.units);
  return { removal, apply: planApply({ ...input, state: kept, host: after }) };
}
