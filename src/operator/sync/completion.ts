import { findCondition } from '../../api/condition.ts';
import { keyOf } from '../../kube/object.ts';
import { nextTurn } from '../../process/slices.ts';
import type { StoredNode } from '../../store/node-configs.ts';
import type { FormerClusters } from '../deletion/former-clusters.ts';
import type { Rounds } from '../deliver/delivery-rounds.ts';
import { type Inventory, nodesAfter } from '../inventory-records/inventory.ts';
import { sightingOf } from '../inventory-records/observed.ts';
import { latestObject } from '../memory/latest-object.ts';
import { countDelivery, type OperatorMetrics } from '../metrics/metrics.ts';
import { statusOf } from '../openstack-config.ts';
import type { CloudAges } from '../schedule/cloud-age.ts';
import type { DeliveredContext } from './delivery.ts';
import type { SyncResult } from './result.ts';
import { isCloudOutage, isOutage, troublesIn } from './troubles.ts';

export interface RecordDeps {
  readonly cloudAges: CloudAges;
  readonly inventory: Inventory;
}

/** Notes what a sync of some servers left unconfirmed. */
export function completeSome(
  { memory, config, scope, rounds }: DeliveredContext,
  { metrics }: { readonly metrics: OperatorMetrics },
): undefined {
  memory.unconfirmedRemovals.noteSome(scope.events.servers, rounds.nodes);
  countDelivery(metrics, config.providerId, rounds.delivery);
}

/** Records the nodes of a sync of all servers in the inventory, and that its cloud was read completely. */
export async function recordNodes(
  context: DeliveredContext,
  { cloudAges, inventory }: RecordDeps,
): Promise<void> {
  const { object, config, source, observed, planned, rounds } = context;
  if (isEvidenceComplete(context) && !isCloudOutage(observed)) cloudAges.complete(keyOf(object));
  // A legacy Viola's records were written with each POST.
  const failed = context.connections.viola.abilities.reports ? [] : failedPosts(rounds);
  const isSettled = ({ nodeName }: StoredNode) => !failed.includes(nodeName);
  const sighting = await sightingOf(object, planned.input.observation, rounds.held);
  await inventory.record(
    config.providerId,
    source,
    nodesAfter(rounds, source).filter(isSettled),
    [...rounds.unreadable, ...failed],
    sighting,
  );
  await nextTurn();
}

/** Collects the result of a sync of all servers. */
export function resultOf(context: DeliveredContext, former: FormerClusters): SyncResult {
  const { memory, connections, observed, planned, rounds } = context;
  const { plan, input } = planned;
  const { conditions } = statusOf(latestObject(context));
  // A problem that the status reports already stays in it.
  const isReported = findCondition(conditions, 'Ready')?.status === 'False';
  const asking = memory.unconfirmedRemovals.noteAll(rounds.nodes, isReported);
  const areHeld = former.troubles.every(({ reason }) => reason === 'RemovalHeld');
  return {
    ...rounds,
    ...former,
    summary: plan.summary,
    ports: plan.ports,
    observation: input.observation,
    troubles: troublesIn({ observed, plan, rounds, former, asking }),
    asking,
    evidenceComplete: isEvidenceComplete(context) && areHeld,
    isOutage: isOutage({ observed, rounds }),
    unverified: connections.unverified,
    reportsStatus: connections.viola.abilities.reports,
  };
}

/** Whether everything was read that removals depend on. */
function isEvidenceComplete({ planned: { input, evidenceComplete } }: DeliveredContext): boolean {
  const { subnetsComplete, serversComplete } = input.selection;
  return evidenceComplete && subnetsComplete && serversComplete;
}

function failedPosts({ delivery }: Rounds): string[] {
  const failures = delivery.failures.filter(({ reason }) => reason === 'ViolaPostError');
  return failures.map(({ nodeName }) => nodeName);
}
