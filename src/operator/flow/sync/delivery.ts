import type { Effect } from '../../../api/effects.ts';
import { countsInBudget } from '../../../api/removals.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { goingIn } from '../../../plan/gate.ts';
import type { NodePlan, Plan, SentRelease } from '../../../plan/plan.ts';
import type { Perform } from '../../../process/effects.ts';
import type { Clock } from '../../../time/clock.ts';
import type { ObservedContext } from '../../cloud/observe/observe.ts';
import { deliverInRounds, type Rounds } from '../../clusters/deliver/delivery-rounds.ts';
import { unansweredPosts } from '../../clusters/deliver/unanswered-posts.ts';
import { addFinalizer } from '../../model/openstack-config.ts';
import type { SyncContext } from '../../model/sync-context.ts';
import type { NicsAndNodes } from '../../removals/budgets.ts';
import { openConsent } from '../../removals/consent.ts';
import { type DeliveredRemovals, deliveredBases } from '../../removals/delivered-bases.ts';
import { removalMemory } from '../../removals/removal-memory.ts';
import { evidenceMemory } from '../../report/status/evidence.ts';
import type { StatusWriter } from '../../report/status/writer.ts';
import type { Planned } from './evidence.ts';
import { manualRemovals } from './manual-removals.ts';

/** A sync with its plan and the delivery result from the business cluster. */
export interface DeliveredContext extends PlannedSync {
  readonly rounds: Rounds;
}

/** A sync with its plan. */
export interface PlannedSync extends SyncContext, ObservedContext {
  readonly planned: Planned;
}

export interface DeliveryDeps {
  readonly client: Pick<KubeClient, 'patch'>;
  readonly writer: Pick<StatusWriter, 'prepare'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly perform: Perform<Effect>;
}

/**
 * Writes finalizer, `deliveredTo`, the removals and a used consent before the first delivery: after a crash or a
 * deletion the operator can then find the nodes again, and counts each removal.
 */
export async function prepareDelivery(
  context: PlannedSync,
  deps: DeliveryDeps,
  signal: AbortSignal,
): Promise<void> {
  const { memory, scope, planned, connections } = context;
  const { plan, input } = planned;
  const counting = goingIn(plan.nodes, input).filter(countsInBudget);
  // Removals and consent are recorded only if they can be sent.
  if (sendsNodes(plan)) await connections.viola.admit();
  if (concernsNodes(plan)) {
    const { providerId } = context.config;
    await addFinalizer(context.object, deps, signal);
    const change = {
      providerId,
      removals: newRemovals(counting, input),
      consent: newConsent(context, deps),
    };
    const isFirst = await deps.writer.prepare(context, change, signal);
    if (isFirst) unansweredPosts.of(memory.term).begin(providerId);
  }
  const isInScope = (id: string) => scope.servers === 'all' || scope.servers.includes(id);
  removalMemory.of(memory).noteRecorded(
    counting.map(({ nic }) => nic),
    (id) => !id.startsWith(formerPrefix) && isInScope(id),
  );
}

/** Prefix of recorded removals from former business clusters. */
export const formerPrefix = 'former:';

/** Counts unrecorded removals; undefined: none. */
function newRemovals(
  counting: ReturnType<typeof goingIn>,
  { recordedNics }: PlannedSync['planned']['input'],
): NicsAndNodes | undefined {
  const recorded = new Set(recordedNics);
  const recordedNodes = new Set(recordedNics.map((nic) => nic.split(' ')[0]));
  const added = counting.filter(({ nic }) => !recorded.has(nic));
  if (added.length === 0) return undefined;
  const nodes = added.map(({ node }) => node.instanceId).filter((id) => !recordedNodes.has(id));
  return { nics: new Set(added.map(({ nic }) => nic)).size, nodes: new Set(nodes).size };
}

/** Returns the consent to store before its first use; undefined: none, or stored already. */
function newConsent({ object, planned }: PlannedSync, { clock }: Pick<DeliveryDeps, 'clock'>) {
  const { consentFor } = planned.plan;
  if (!consentFor || planned.input.consent?.isStored) return undefined;
  const open = openConsent(object, clock.now());
  return open && { ...open, ...consentFor };
}

function sendsNodes({ nodes }: Plan): boolean {
  return nodes.some(({ action }) => action !== 'none');
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
    observes: config.viola.observes,
    perform,
    viola: connections.viola,
    unreadable: observed.unreadable,
    onUnanswered: () => unansweredPosts.of(memory.term).failed(config.providerId),
    manualRemovals: manualRemovals(object).nodes,
  };
  if (sendsNodes(planned.plan)) evidenceMemory.of(memory.term).beginDelivery();
  const rounds = await deliverInRounds(planned, options, signal);
  removalMemory.of(memory).noteSent(releasesIn(rounds, planned.input.consent?.value ?? ''));
  deliveredBases.of(memory.term).note(config.providerId, removalsIn(rounds));
  return rounds;
}

/** Returns the removals in sent nodes; a POST or DELETE without an answer may still take effect. */
function removalsIn({ nodes, delivery }: Rounds): DeliveredRemovals[] {
  const { accepted, removed, failures } = delivery;
  const unanswered = failures.filter(({ kind }) => kind === 'outage');
  const sent = new Set([
    ...[...accepted, ...unanswered].map(({ nodeName }) => nodeName),
    ...removed,
  ]);
  return nodes
    .filter(({ nodeName, action }) => action !== 'none' && sent.has(nodeName))
    .map((node) => ({ nodeName: node.nodeName, nics: deliveredRemovalsOf(node) }));
}

/** Returns the NICs that leave by this plan; a repeated DELETE decides only about the kept NICs. */
function deliveredRemovalsOf({ removals, keptNics = [], deleteBasis }: NodePlan) {
  if (deleteBasis === undefined) return removals.confirmed;
  return keptNics.map(({ macAddress }) => ({ macAddress, basis: deleteBasis }));
}

/** Returns the accepted releases for kept NICs. */
function releasesIn({ nodes, delivery }: Rounds, consent: string): SentRelease[] {
  const posted = new Map(delivery.accepted.map((node) => [node.nodeName, node]));
  const removed = new Set(delivery.removed);
  return nodes.flatMap((node) => {
    const { nodeName, base, keptNics, removalsAllowed = false } = node;
    const accepted = posted.get(nodeName) ?? (removed.has(nodeName) ? base : undefined);
    if (!accepted || keptNics === undefined) return [];
    const { uid, generation } = accepted;
    const unnamed = { macAddress: '', basis: 'consent' } as const;
    const released = keptNics.length === 0 && removalsAllowed ? [unnamed] : keptNics;
    return released
      .filter(({ basis }) => basis !== 'sideEffect')
      .map(({ macAddress, basis }) => {
        const value = basis === 'consent' ? consent : '';
        return { uid, generation, macAddress, basis, value };
      });
  });
}
