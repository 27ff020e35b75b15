import type { CloudLogin } from '../../cloud/login.ts';
import type { CloudView } from '../../cloud/observe/cloud-view.ts';
import { type ObservedContext, observe } from '../../cloud/observe/observe.ts';
import type { Violas } from '../../clusters/deliver/violas.ts';
import type { ManagementCluster } from '../../management-cluster.ts';
import type { PlanContext } from '../../model/sync-context.ts';
import type { Planned } from './evidence.ts';
import { type PlanDeps, planNodes } from './plan-nodes.ts';

/** A sync or what-if with its plan. */
export interface PlannedContext extends ObservedContext {
  readonly planned: Planned;
}

export interface ObserveAndPlanDeps extends PlanDeps {
  readonly violas: Pick<Violas, 'of' | 'facts'>;
  readonly management: Pick<ManagementCluster, 'uid'>;
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
  const { config } = context;
  const cluster = await deps.management.uid(signal);
  const viola = await deps.violas.of(config.viola, config.providerId, context.source);
  const connected = { ...context, connections: { view, viola, unverified } };
  const [seen, facts] = await Promise.all([
    observe(connected, deps.clock, signal),
    deps.violas.facts(config.viola, config.providerId),
  ]);
  // The reads above have logged in, so the project is known.
  const source = { ...context.source, cluster, ...placeOf(view) };
  const observed = { ...connected, source, observed: { ...seen, ...facts } };
  return { ...observed, planned: await planNodes(observed, deps, signal) };
}

/** Returns the cloud and project as a source names them. */
function placeOf({ cloud }: CloudView): { readonly cloud?: string } {
  return cloud.projectId === undefined ? {} : { cloud: `${cloud.host}/${cloud.projectId}` };
}
