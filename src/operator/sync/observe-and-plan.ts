import type { Violas } from '../deliver/violas.ts';
import type { CloudView } from '../observe/cloud-view.ts';
import { type ObservedContext, observe } from '../observe/observe.ts';
import type { CloudLogin } from './connections.ts';
import type { PlanContext } from './context.ts';
import type { Planned } from './evidence.ts';
import { type PlanDeps, planNodes } from './plan-nodes.ts';

/** A sync or what-if with its plan. */
export interface PlannedContext extends ObservedContext {
  readonly planned: Planned;
}

export interface ObserveAndPlanDeps extends PlanDeps {
  readonly violas: Pick<Violas, 'of' | 'networks'>;
}

/**
 * Reads cloud and business cluster, and plans: a sync's first half, and a whole what-if. Writes nothing, neither outside
 * the process nor in the OpenstackConfig's memory. Throws StepFailure.
 */
export async function observeAndPlan<Context extends PlanContext>(
  context: Context,
  { view, unverified }: { readonly view: CloudView } & Pick<CloudLogin, 'unverified'>,
  deps: ObserveAndPlanDeps,
  signal: AbortSignal,
): Promise<Context & PlannedContext> {
  const { config, source } = context;
  const viola = await deps.violas.of(config.viola, config.providerId, source);
  const connected = { ...context, connections: { view, viola, unverified } };
  const [seen, clusterNetworks] = await Promise.all([
    observe(connected, signal),
    deps.violas.networks(config.viola, config.providerId),
  ]);
  const observed = { ...connected, observed: { ...seen, clusterNetworks } };
  return { ...observed, planned: await planNodes(observed, deps, signal) };
}
