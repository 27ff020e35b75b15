import { keyOf } from '../../kube/object.ts';
import { calculateInSteps } from '../../plan/calculate.ts';
import type { NodePlan, Plan, PlanInput } from '../../plan/plan.ts';
import { inSlices, nextTurn } from '../../process/slices.ts';
import type { Clock, Random } from '../../time/clock.ts';
import type { DeliveryRecords } from '../deliver/legacy/delivery-records.ts';
import { needsRemoval } from '../deliver/unsupported.ts';
import type { Inventory } from '../inventory-records/inventory.ts';
import { type ObservedContext, serversWithNewPorts } from '../observe/observe.ts';
import type { SyncContext } from './context.ts';
import { type Planned, planWithEvidence } from './evidence.ts';
import { refuseLostRecords } from './lost-records.ts';
import type { PlanCache } from './plan-cache.ts';
import { type PlanInputDeps, planInput } from './plan-input.ts';
import type { RecentRemovals } from './recent-removals.ts';

export interface PlanDeps extends PlanInputDeps {
  readonly inventory: Inventory;
  /** The inventory where a legacy Viola leaves no other record. */
  readonly records: DeliveryRecords;
  readonly recentRemovals: RecentRemovals;
  readonly plans: PlanCache;
  readonly clock: Clock;
  readonly random: Random;
}

/** Plans the nodes of a sync, with evidence for removals where the plan needs it. Throws StepFailure. */
export async function planNodes(
  context: ObservedContext,
  deps: PlanDeps,
  signal: AbortSignal,
): Promise<Planned> {
  const { config, connections, observed } = context;
  const { view } = connections;
  const { inventory, records, recentRemovals } = deps;
  await nextTurn();
  // A legacy Viola cannot be read: only an index that the inventory knows is free is assigned.
  const nics = config.viola.compatibility === 'legacy' ? records : inventory;
  const known = {
    recorded: await nics.nicsOf(serversWithNewPorts(observed)),
    recentRemovals: recentRemovals.of(view.cloud.name),
  };
  await refuseLostRecords(context, { ...observed, ...known, records });
  await nextTurn();
  const input = planInput(context, known, deps);
  const plan = plannerOf(context, deps);
  const witness = { ...view, selector: config.servers };
  const planned = await planWithEvidence(input, witness, { ...deps, plan }, signal);
  recentRemovals.note(view.cloud.name, eventRemovals(context, planned.plan));
  return planned;
}

/** A sync of some servers has a new input; its plan is not cached. */
function plannerOf({ source, scope }: SyncContext, { plans, clock }: PlanDeps) {
  return async (input: PlanInput, signal: AbortSignal): Promise<Plan> =>
    scope.servers === 'all'
      ? plans.plan(keyOf(source), input, signal)
      : inSlices(calculateInSteps(input), clock, signal);
}

/** Returns the nodes of servers with cloud events, without removals that a legacy Viola cannot do. */
function eventRemovals(
  { scope, connections }: ObservedContext,
  { nodes }: Plan,
): readonly NodePlan[] {
  const servers = new Set(scope.events.servers);
  const { abilities } = connections.viola;
  const isPossible = (node: NodePlan) => abilities.removes || !needsRemoval(node);
  return nodes.filter((node) => servers.has(node.instanceId)).filter(isPossible);
}
