import type { Effect } from '../../api/effects.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { NodePlan, Plan } from '../../plan/plan.ts';
import type { Perform } from '../../process/effects.ts';
import { deliverInRounds, type Rounds } from '../deliver/delivery-rounds.ts';
import { needsRemoval } from '../deliver/unsupported.ts';
import type { ObservedContext } from '../observe/observe.ts';
import { addFinalizer } from '../openstack-config.ts';
import type { StatusWriter } from '../status/writer.ts';
import type { SyncContext } from './context.ts';
import type { Planned } from './evidence.ts';
import { manualRemovals } from './manual-removals.ts';
import type { RecentRemovals } from './recent-removals.ts';

/** A sync with its plan and the delivery result from the business cluster. */
export interface DeliveredContext extends PlannedSync {
  readonly rounds: Rounds;
}

/** A sync with its plan. */
export interface PlannedSync extends SyncContext, ObservedContext {
  readonly planned: Planned;
}

export interface DeliveryDeps {
  readonly recentRemovals: Pick<RecentRemovals, 'note'>;
  readonly client: Pick<KubeClient, 'patch'>;
  readonly writer: Pick<StatusWriter, 'deliversTo'>;
  readonly perform: Perform<Effect>;
}

/**
 * Writes finalizer and `deliveredTo` before the first delivery: after a crash or a deletion the operator can
 * then find the nodes again.
 */
export async function prepareDelivery(
  context: PlannedSync,
  deps: DeliveryDeps,
  signal: AbortSignal,
): Promise<void> {
  const { plan } = context.planned;
  noteEventRemovals(context, deps);
  if (!concernsNodes(plan)) return;
  const { providerId } = context.config;
  await addFinalizer(context.object, deps, signal);
  const isFirst = await deps.writer.deliversTo(context, providerId, signal);
  if (isFirst) context.memory.term.unansweredPosts.begin(providerId);
}

/** Records removals on servers with cloud events, without removals unsupported by a legacy Viola. */
function noteEventRemovals(
  { scope, connections, planned }: PlannedSync,
  { recentRemovals }: Pick<DeliveryDeps, 'recentRemovals'>,
): void {
  const servers = new Set(scope.events.servers);
  const { abilities } = connections.viola;
  const isPossible = (node: NodePlan) => abilities.removes || !needsRemoval(node);
  const nodes = planned.plan.nodes.filter(({ instanceId }) => servers.has(instanceId));
  recentRemovals.note(connections.view.cloud.name, nodes.filter(isPossible));
}

/** Returns whether nodes exist or are sent: the object must not be deleted before its nodes. */
function concernsNodes({ nodes }: Plan): boolean {
  return nodes.some(({ action, base }) => action !== 'none' || base !== null);
}

/** Sends the planned nodes to the business cluster. */
export async function deliverNodes(
  { object, memory, config, source, connections, observed, planned }: PlannedSync,
  { perform }: DeliveryDeps,
  signal: AbortSignal,
): Promise<Rounds> {
  const options = {
    source,
    perform,
    viola: connections.viola,
    unreadable: observed.unreadable,
    onUnanswered: () => memory.term.unansweredPosts.failed(config.providerId),
    manualRemovals: manualRemovals(object).nodes,
  };
  return deliverInRounds(planned, options, signal);
}
