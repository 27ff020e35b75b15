import { findCondition } from '../../../api/condition.ts';
import { keyOf } from '../../../kube/object.ts';
import { compareText } from '../../../plan/view.ts';
import { nextTurn } from '../../../process/slices.ts';
import type { StoredNode } from '../../../store/node-configs.ts';
import type { CloudAges } from '../../cloud/cloud-age.ts';
import type { Rounds } from '../../clusters/deliver/delivery-rounds.ts';
import type { TermMemory } from '../../model/memory/config-memory.ts';
import { latestObject } from '../../model/memory/latest-object.ts';
import { Slot } from '../../model/memory/slot.ts';
import { type OperatorMetrics } from '../../model/metrics.ts';
import { statusOf } from '../../model/openstack-config.ts';
import type { SyncContent } from '../../model/sync-content.ts';
import { deliveredBases } from '../../removals/delivered-bases.ts';
import { countDelivery } from '../../report/metrics/metrics.ts';
import type { DuplicateCluster, FormerClusters, SyncResult } from '../../report/result.ts';
import { type Inventory, nodesAfter } from '../inventory-records/inventory.ts';
import { sightingOf } from '../inventory-records/observed.ts';
import { unconfirmedRemovals } from '../schedule/unconfirmed-removals.ts';
import type { DeliveredContext } from './delivery.ts';
import { isCloudOutage, isOutage, problemsIn } from './problems.ts';

export interface RecordDeps {
  readonly cloudAges: CloudAges;
  readonly inventory: Inventory;
}

/** Records the unconfirmed removals after a partial sync. */
export function completeSome(
  { memory, config, scope, rounds }: DeliveredContext,
  { metrics }: { readonly metrics: OperatorMetrics },
): undefined {
  unconfirmedRemovals.of(memory).noteSome(scope.events.servers, rounds.nodes);
  countDelivery(metrics, config.providerId, rounds.delivery);
}

/** Last recorded sync, with the fingerprint written then. */
interface Recorded {
  readonly content: SyncContent;
  readonly fingerprint: string | undefined;
}

const lastRecorded = new Slot<TermMemory, Recorded | undefined>(() => undefined);

/** Marks the cloud as completely read after a full sync. Records the nodes unless the inventory has the same records. */
export async function recordNodes(
  context: DeliveredContext,
  content: SyncContent,
  { cloudAges, inventory }: RecordDeps,
): Promise<void> {
  const { object, memory, config, source, observed } = context;
  if (isEvidenceComplete(context) && !isCloudOutage(observed)) cloudAges.complete(keyOf(object));
  const last = lastRecorded.of(memory.term);
  const fingerprint = async () => inventory.fingerprint(config.providerId, source);
  // A restored or replaced database has different records.
  const isRecorded =
    last?.content === content &&
    last.fingerprint !== undefined &&
    last.fingerprint === (await fingerprint());
  if (isRecorded) return;
  const isWritten = await writeRecords(context, inventory);
  const recorded = isWritten ? { content, fingerprint: await fingerprint() } : undefined;
  lastRecorded.set(memory.term, recorded);
}

/** Returns whether the inventory has the nodes. */
async function writeRecords(
  context: DeliveredContext,
  inventory: Pick<Inventory, 'record'>,
): Promise<boolean> {
  const { object, memory, config, source, planned, rounds } = context;
  const bases = deliveredBases.of(memory.term);
  // For a legacy Viola every POST has already written its own record.
  const failed = context.connections.viola.abilities.reports ? [] : failedPosts(rounds);
  const unknown = [...rounds.unreadable, ...failed];
  const isSettled = ({ nodeName }: StoredNode) => !failed.includes(nodeName);
  const sighting = await sightingOf(object, planned.input.observation, rounds.held);
  const { providerId } = config;
  const nodes = nodesAfter(rounds, source).filter(isSettled);
  const details = { unknown, sighting, bases: bases.of(providerId) };
  const isWritten = await inventory.record(providerId, source, nodes, details);
  if (isWritten) bases.settle(providerId, [...unknown, ...leavingNodes(rounds)]);
  await nextTurn();
  return isWritten;
}

/** Returns the nodes whose deletion is not finished. */
function leavingNodes({ held, delivery }: Rounds): string[] {
  const leaving = held.filter(({ deletionTimestamp }) => deletionTimestamp !== undefined);
  return [...delivery.waiting, ...leaving.map(({ nodeName }) => nodeName)];
}

/** Builds the result for a sync of all servers. */
export function resultOf(
  context: DeliveredContext,
  content: SyncContent,
  former: FormerClusters,
): SyncResult {
  const { memory, connections, observed, planned, rounds } = context;
  const { plan, input } = planned;
  const { conditions } = statusOf(latestObject(context));
  // Keep reporting a problem that the status already reports.
  const isReported = findCondition(conditions, 'Ready')?.status === 'False';
  const retrying = unconfirmedRemovals.of(memory).noteAll(rounds.nodes, isReported);
  const areHeld = former.problems.every(({ reason }) => reason === 'RemovalHeld');
  return {
    ...rounds,
    heldRead: observed.heldRead,
    ...former,
    content,
    summary: plan.summary,
    ports: plan.ports,
    heldNics: [...plan.heldNics, ...former.heldNics],
    observation: input.observation,
    duplicate: duplicateOf(context, former),
    problems: problemsIn({ observed, plan, rounds, former, retrying }),
    retrying,
    evidenceComplete: isEvidenceComplete(context) && areHeld,
    isOutage: isOutage({ observed, rounds }),
    unverified: connections.unverified,
    reportsStatus: connections.viola.abilities.reports,
  };
}

/** Object uids prove the same cluster at once, Viola's answer about cluster uids only from the next sync on. */
function duplicateOf(
  { config, observed }: DeliveredContext,
  { sameClusterIds, staying }: FormerClusters,
): DuplicateCluster | undefined {
  const ids = [...new Set([...(observed.sameClusterIds ?? []), ...sameClusterIds])];
  if (ids.length === 0) return undefined;
  return { providerId: config.providerId, ids: ids.toSorted(compareText), staying };
}

/** Returns whether all data for removals was read. */
function isEvidenceComplete({ planned: { input, evidenceComplete } }: DeliveredContext): boolean {
  const { subnetsComplete, serversComplete } = input.selection;
  return evidenceComplete && subnetsComplete && serversComplete;
}

function failedPosts({ delivery }: Rounds): string[] {
  const failures = delivery.failures.filter(({ reason }) => reason === 'ViolaPostError');
  return failures.map(({ nodeName }) => nodeName);
}
