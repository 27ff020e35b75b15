import { keyOf } from '../../../kube/object.ts';
import { type Calculation, calculateInSteps } from '../../../plan/calculate.ts';
import type { PlanInput } from '../../../plan/plan.ts';
import { inSlices, nextTurn } from '../../../process/slices.ts';
import type { Clock, Random } from '../../../time/clock.ts';
import { type ObservedContext, serversWithNewPorts } from '../../cloud/observe/observe.ts';
import type { DeliveryRecords } from '../../clusters/deliver/legacy/delivery-records.ts';
import type { PlanContext } from '../../model/sync-context.ts';
import type { Inventory } from '../inventory-records/inventory.ts';
import { type Planned, planWithEvidence } from './evidence.ts';
import { refuseLostRecords } from './lost-records.ts';
import type { PlanCache } from './plan-cache.ts';
import { type PlanInputDeps, planInput } from './plan-input.ts';

export interface PlanDeps extends PlanInputDeps {
  readonly inventory: Inventory;
  /** Delivery records in the inventory: the only records behind a legacy Viola. */
  readonly records: DeliveryRecords;
  readonly plans: Pick<PlanCache, 'plan'>;
  readonly clock: Clock;
  readonly random: Random;
}

/** Plans the nodes for a sync or what-if, with evidence for removals where the plan needs evidence. Throws StepFailure. */
export async function planNodes(
  context: ObservedContext,
  deps: PlanDeps,
  signal: AbortSignal,
): Promise<Planned> {
  const { config, connections, observed } = context;
  const { view } = connections;
  const { inventory, records } = deps;
  await nextTurn();
  // A legacy Viola cannot be read: assign only indexes that are free according to the inventory.
  const nics = config.viola.compatibility === 'legacy' ? records : inventory;
  const known = { recorded: await nics.nicsOf(serversWithNewPorts(observed)) };
  await refuseLostRecords(context, { ...observed, ...known, records });
  await nextTurn();
  const input = planInput(context, known, deps);
  const plan = plannerOf(context, deps);
  const witness = { ...view, selector: config.servers };
  return planWithEvidence(input, witness, { ...deps, plan }, signal);
}

/** A partial sync has a new input; its plan is not cached. */
function plannerOf({ source, scope }: PlanContext, { plans, clock }: PlanDeps) {
  return async (input: PlanInput, signal: AbortSignal): Promise<Calculation> =>
    scope.servers === 'all'
      ? plans.plan(keyOf(source), input, signal)
      : inSlices(calculateInSteps(input), clock, signal);
}
