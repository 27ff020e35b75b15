import { inSlices } from '../../../process/slices.ts';
import type { Clock } from '../../../time/clock.ts';
import type { PlannedSync } from '../../flow/sync/delivery.ts';
import { generationOf } from '../../model/openstack-config.ts';
import { PackedVerdicts } from '../../model/packing/verdicts.ts';
import { type Calculated, datedPlan, planViewInSteps } from './plan-view.ts';
import { lastPlan, type StoredPlan } from './stored-plan.ts';

/** Stores a sync's plan in the OpenstackConfig's memory, before the delivery; a partial sync stores nothing. */
export async function storePlan(
  context: PlannedSync,
  clock: Pick<Clock, 'now' | 'monotonicMs'>,
  signal: AbortSignal,
): Promise<void> {
  const { object, memory, config, scope, planned } = context;
  if (scope.servers !== 'all') return;
  const { term } = memory;
  const { providerId } = config;
  const [generation, calculatedAt] = [generationOf(object), clock.now()];
  const last = lastPlan.of(term);
  const isSame = last?.of.deref() === planned.plan && last.generation === generation;
  if (isSame && last.providerId === providerId) {
    lastPlan.set(term, { ...last, calculatedAt });
    return;
  }
  const { verdicts: _, ...view } = await inSlices(planViewInSteps(context), clock, signal);
  const json = Buffer.from(JSON.stringify(view));
  const verdicts = await PackedVerdicts.of(planned.plan.ports);
  const of = new WeakRef(planned.plan);
  lastPlan.set(term, { providerId, calculatedAt, generation, json, verdicts, of });
}

/** Returns the stored plan. */
export function storedPlanView({ json, verdicts, calculatedAt }: StoredPlan) {
  const view = JSON.parse(json.toString()) as Omit<Calculated, 'verdicts'>;
  return datedPlan({ ...view, verdicts: verdicts.all() }, calculatedAt);
}
