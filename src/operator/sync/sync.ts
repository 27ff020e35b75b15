import { findCondition } from '../../api/condition.ts';
import type { Effect } from '../../api/effects.ts';
import type { Store as ObjectStore } from '../../kube/cache/store.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { keyOf } from '../../kube/object.ts';
import { calculateInSteps } from '../../plan/calculate.ts';
import type { NodePlan, Plan, PlanInput } from '../../plan/plan.ts';
import type { Perform } from '../../process/effects.ts';
import { inSlices, nextTurn } from '../../process/slices.ts';
import type { StoredNode } from '../../store/node-configs.ts';
import type { Clock, Random } from '../../time/clock.ts';
import { leaveFormerClusters } from '../deletion/former-clusters.ts';
import { deliverInRounds, type Rounds } from '../deliver/delivery-rounds.ts';
import type { DeliveryRecords } from '../deliver/legacy/delivery-records.ts';
import type { UnansweredPosts } from '../deliver/unanswered-posts.ts';
import { needsRemoval } from '../deliver/unsupported.ts';
import { type Inventory, nodesAfter } from '../inventory-records/inventory.ts';
import { sightingOf } from '../inventory-records/observed.ts';
import { countDelivery, type OperatorMetrics } from '../metrics/metrics.ts';
import { observe, serversWithNewPorts } from '../observe/observe.ts';
import { addFinalizer, type ConfigObject, ownerOf, statusOf } from '../openstack-config.ts';
import type { ResolvedConfig } from '../resolve/resolve.ts';
import type { CloudLooks } from '../schedule/cloud-age.ts';
import type { Doubts } from '../schedule/pending-evidence.ts';
import type { Pace } from '../schedule/poll-interval.ts';
import type { Extent } from '../schedule/scope.ts';
import type { StatusWriter } from '../status/writer.ts';
import { type AccessDeps, access } from './connections.ts';
import { planInput, prove } from './evidence.ts';
import { refuseLostRecords } from './lost-records.ts';
import type { PlanMemory } from './plan-memory.ts';
import type { RecentRemovals } from './recent-removals.ts';
import { type SyncRequest, syncRequestOf } from './request.ts';
import type { SyncResult } from './result.ts';
import { isCloudOutage, isOutage, troublesIn } from './troubles.ts';

export interface SyncDeps extends AccessDeps {
  readonly client: Pick<KubeClient, 'find' | 'patch'>;
  readonly configs: Pick<ObjectStore<ConfigObject>, 'get'>;
  readonly doubts: Doubts;
  readonly cloudLooks: CloudLooks;
  readonly recentRemovals: RecentRemovals;
  readonly plans: PlanMemory;
  readonly pace: Pace;
  readonly inventory: Inventory;
  /** The inventory where a legacy Viola leaves no other record. */
  readonly records: DeliveryRecords;
  readonly unanswered: UnansweredPosts;
  readonly perform: Perform<Effect>;
  readonly writer: StatusWriter;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: OperatorMetrics;
}

/**
 * The steps of a look at all servers: everything that can be delivered is, whatever else fails. Each of them may take tens of
 * milliseconds where there are thousands of servers, and others have their turn between. Throws StepFailure.
 */
export async function syncAll(
  object: ConfigObject,
  config: ResolvedConfig,
  extent: Extent,
  deps: SyncDeps,
  signal: AbortSignal,
): Promise<SyncResult> {
  const request = syncRequestOf(object, config, extent, deps);
  const { source } = request;
  const brought = await bringAbout(object, request, deps, signal);
  const { seen, proven, rounds, unverified, reportsStatus } = brought;
  const { input, plan } = proven;
  const { subnetsComplete, serversComplete } = input.selection;
  const evidenceComplete = proven.evidenceComplete && subnetsComplete && serversComplete;
  if (evidenceComplete && !isCloudOutage(seen)) deps.cloudLooks.complete(keyOf(object));
  const records = nodesAfter(rounds, source);
  // What a legacy Viola was sent stands in their records already.
  const failed = reportsStatus ? [] : failedPosts(rounds);
  const isSettled = ({ nodeName }: StoredNode) => !failed.includes(nodeName);
  const sighting = await sightingOf(object, input.observation, rounds.held);
  await deps.inventory.record(
    config.providerId,
    source,
    records.filter(isSettled),
    [...rounds.unreadable, ...failed],
    sighting,
  );
  await nextTurn();
  const status = statusOf(deps.writer.latest(object));
  const { deliveredTo } = status;
  const others = await leaveFormerClusters(
    { request, input, held: rounds.held, deliveredTo },
    deps,
    signal,
  );
  // Patience is for what was well; what has been told already stays told.
  const isTold = findCondition(status.conditions, 'Ready')?.status === 'False';
  const asking = deps.doubts.noteAll(keyOf(object), rounds.nodes, isTold);
  const troubles = troublesIn({ seen, plan, rounds, others, asking });
  const { observation } = input;
  const ending = {
    summary: plan.summary,
    ports: plan.ports,
    evidenceComplete:
      evidenceComplete && others.troubles.every(({ reason }) => reason === 'RemovalHeld'),
    isOutage: isOutage({ seen, rounds }),
  };
  return {
    ...rounds,
    ...others,
    ...ending,
    observation,
    troubles,
    asking,
    unverified,
    reportsStatus,
  };
}

/** The steps of a look at some servers; what is told of it, a look at all tells. Throws StepFailure. */
export async function syncSome(
  object: ConfigObject,
  config: ResolvedConfig,
  extent: Extent,
  deps: SyncDeps,
  signal: AbortSignal,
): Promise<void> {
  const request = syncRequestOf(object, config, extent, deps);
  const { rounds } = await bringAbout(object, request, deps, signal);
  deps.doubts.noteSome(keyOf(object), extent.hinted.servers, rounds.nodes);
  countDelivery(deps.metrics, config.providerId, rounds.delivery);
}

/** From what is seen at both ends to what was delivered. */
async function bringAbout(
  object: ConfigObject,
  request: SyncRequest,
  deps: SyncDeps,
  signal: AbortSignal,
) {
  const { inventory, records, perform, unanswered, recentRemovals } = deps;
  const { config, source } = request;
  const { view, viola, unverified } = await access(request, deps, signal);
  deps.cloudLooks.begin(keyOf(object), view.cloud.name);
  if (request.freshSince !== undefined) view.cloud.freshen(request.freshSince);
  const seen = await observe(request, { view, viola }, signal);
  await nextTurn();
  // Without the business cluster to read, an index that the inventory cannot tell is not given out.
  const nics = config.viola.compatibility === 'legacy' ? records : inventory;
  const known = {
    recorded: await nics.nicsOf(serversWithNewPorts(seen)),
    recentRemovals: recentRemovals.of(view.cloud.name),
  };
  await refuseLostRecords(object, request, { ...seen, ...known, records });
  const { servers: selector } = config;
  await nextTurn();
  const input = planInput(request, { ...seen, ...known });
  const plan = plannerOf(request, deps);
  const proven = await prove(input, { ...view, selector }, { ...deps, plan }, signal);
  const told = new Set(request.extent.hinted.servers);
  const toldOf = proven.plan.nodes.filter(({ instanceId }) => told.has(instanceId));
  const isPossible = (node: NodePlan) => viola.abilities.removes || !needsRemoval(node);
  recentRemovals.note(view.cloud.name, toldOf.filter(isPossible));
  if (concernsNodes(proven.plan)) await announce(object, config, deps, signal);
  const onUnanswered = () => unanswered.failed(source, config.providerId);
  const takenOffByHand = request.takenOffByHand.nodes;
  const { unreadable } = seen;
  const sending = { source, perform, viola, unreadable, onUnanswered, takenOffByHand };
  const rounds = await deliverInRounds(proven, sending, signal);
  return { seen, proven, rounds, unverified, reportsStatus: viola.abilities.reports };
}

function failedPosts({ delivery }: Rounds): string[] {
  const failures = delivery.failures.filter(({ reason }) => reason === 'ViolaPostError');
  return failures.map(({ nodeName }) => nodeName);
}

/** A plan for some servers is made for what has just changed. */
function plannerOf({ source, extent }: SyncRequest, { plans, clock }: SyncDeps) {
  return async (input: PlanInput, signal: AbortSignal): Promise<Plan> =>
    extent.scope === 'all'
      ? plans.plan(keyOf(source), input, signal)
      : inSlices(calculateInSteps(input), clock, signal);
}

/** Nodes are sent, or lie there already: the object must not go without us. */
function concernsNodes({ nodes }: Plan): boolean {
  return nodes.some(({ action, base }) => action !== 'none' || base !== null);
}

/** Sees to it that nodes are found again, whatever happens to the object or to this process. */
async function announce(
  object: ConfigObject,
  { providerId }: ResolvedConfig,
  deps: SyncDeps,
  signal: AbortSignal,
): Promise<void> {
  await addFinalizer(object, deps, signal);
  const isFirst = await deps.writer.deliversTo(object, providerId, signal);
  if (isFirst) deps.unanswered.begin(ownerOf(object), providerId);
}
