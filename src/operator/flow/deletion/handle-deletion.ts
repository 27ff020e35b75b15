import { findCondition } from '../../../api/condition.ts';
import type { Effect } from '../../../api/effects.ts';
import type { ExistingNodeConfig } from '../../../api/node-configs-http.ts';
import type { OperatorReason } from '../../../api/reasons.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import type { Outcome } from '../../../kube/reconcile/controller.ts';
import type { RemovalApproval } from '../../../plan/plan.ts';
import type { Perform } from '../../../process/effects.ts';
import type { Logger } from '../../../process/log.ts';
import type { Clock } from '../../../time/clock.ts';
import { removalUnsupported } from '../../clusters/deliver/unsupported.ts';
import type { ViolaClient } from '../../clusters/deliver/viola-client.ts';
import type { Violas } from '../../clusters/deliver/violas.ts';
import type { ManagementCluster } from '../../management-cluster.ts';
import type { ConfigContext } from '../../model/memory/config-memory.ts';
import { latestObject } from '../../model/memory/latest-object.ts';
import {
  type ConfigObject,
  deletionPolicyOf,
  hasFinalizer,
  isOfLegacyViola,
  isRetained,
  ownerOf,
  removeFinalizer,
  statusOf,
} from '../../model/openstack-config.ts';
import { type OperatorSettings, pollingOf } from '../../model/settings/operator.ts';
import { attempt, StepFailure } from '../../model/step-failure.ts';
import { openConsent } from '../../removals/consent.ts';
import { deliveredBases } from '../../removals/delivered-bases.ts';
import { removalMemory } from '../../removals/removal-memory.ts';
import type { Ending } from '../../report/status/conditions.ts';
import type { StatusWriter } from '../../report/status/writer.ts';
import type { Inventory } from '../inventory-records/inventory.ts';
import { type PollInterval, pollInterval } from '../schedule/poll-interval.ts';
import { type DeletionGuard, deletionConsent, isReleased } from './guard.ts';
import { toKeep } from './next-steps.ts';
import { occupiedBy, occupiedIn } from './occupied.ts';
import { type Left, leftOf } from './remaining-nodes.ts';
import { isThere, removalsByDelete, removeNodes } from './withdraw.ts';
import {
  countOf,
  releasedByPolicy,
  releaseOf,
  removalsOf,
  sortedNodes,
  type Withdrawal,
  type Withdrawn,
} from './withdrawal.ts';

export interface DeletionDeps {
  readonly client: Pick<KubeClient, 'patch'>;
  readonly settings: OperatorSettings;
  readonly management: Pick<ManagementCluster, 'owner'>;
  readonly violas: Violas;
  readonly guard: DeletionGuard;
  readonly clock: Pick<Clock, 'now'>;
  readonly inventory: Inventory;
  readonly perform: Perform<Effect>;
  readonly writer: StatusWriter;
  readonly log: Logger;
}

/**
 * Removes a deleted object's finalizer when no node carries its NICs any more. Until then the status names the unclean
 * nodes or the required approval. Returns when to requeue; undefined: nothing is left to do.
 */
export async function handleDeletion(
  context: ConfigContext,
  deps: DeletionDeps,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const { settings, log } = deps;
  const { object, memory } = context;
  const interval = pollInterval.of(memory);
  if (!hasFinalizer(object)) return undefined;
  if (isOfLegacyViola(object)) return handleLegacyDeletion(context, deps, signal);
  const left = await attempt(
    async () => withdrawInTime(context, deps, signal),
    { ...context, log },
    signal,
  );
  if (left instanceof StepFailure) {
    const ending = { kind: 'deleting', problems: [left], waiting: [] } as const;
    const ms = interval.afterFailure(pollingOf(settings), left.retryAfterMs);
    return report(context, ending, ms, deps, signal);
  }
  if ('earlyMs' in left) return delay(context, left.earlyMs, deps, signal);
  const { nodes, problems, open, hadConsent, heldNics } = left;
  const unclean = nodes.map(({ nodeName }) => nodeName).join(', ');
  const waiting = [
    ...(unclean === '' ? [] : [`cleanup on ${unclean}`]),
    ...open.map(
      ({ providerId }) =>
        `unanswered POSTs to business cluster "${providerId}", which may still arrive`,
    ),
  ];
  if (waiting.length + problems.length === 0) return release(context, deps, signal);
  const ending = { kind: 'deleting', problems, waiting, hadConsent, heldNics } as const;
  return report(context, ending, nextMsOf(left, interval, settings), deps, signal);
}

/** Returns the milliseconds until the next attempt to withdraw the nodes. */
function nextMsOf(
  { isHeld, open, nodes }: Left,
  interval: PollInterval,
  settings: OperatorSettings,
): number {
  if (isHeld) return interval.afterFailure(pollingOf(settings), undefined);
  const isCleanup = open.length === 0 || nodes.length > 0;
  return isCleanup ? interval.afterCleanup() : Math.max(...open.map(({ ms }) => ms));
}

/** Writes the status of a deletion with the time of the next attempt; returns when to requeue. */
async function report(
  context: ConfigContext,
  ending: Ending,
  ms: number,
  { writer, clock }: Pick<DeletionDeps, 'writer' | 'clock'>,
  signal: AbortSignal,
): Promise<Outcome> {
  const next = { ms, at: new Date(clock.now().getTime() + ms) };
  return { requeueAfterMs: await writer.write(context, { ending, next: () => next }, signal) };
}

/** Reports the wait before the first removal; returns when to requeue. */
async function delay(
  context: ConfigContext,
  ms: number,
  deps: DeletionDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const { settings } = deps;
  const { object } = context;
  const message = `the NICs leave ${settings.deletionDelay / 1000} s after the deletion, or later while another OpenstackConfig that may select the same servers has completed no sync; ${toKeep(object)}`;
  const problems = [{ reason: 'DeletionDelayed', message } as const];
  const ending = { kind: 'deleting', problems, waiting: [] } as const;
  return report(context, ending, Math.min(ms, takenOverAfterMs), deps, signal);
}

/** Milliseconds between two node lists during the delay. */
const takenOverAfterMs = 5_000;

async function release({ object, memory }: ConfigContext, deps: DeletionDeps, signal: AbortSignal) {
  await deps.inventory.forget(ownerOf(object), deliveredBases.of(memory.term));
  await removeFinalizer(object, deps, signal);
  return undefined;
}

/** Removes the finalizer after status, Event and log have named the remaining nodes: a legacy Viola deletes nothing. */
async function handleLegacyDeletion(
  context: ConfigContext,
  deps: DeletionDeps,
  signal: AbortSignal,
) {
  const { object } = context;
  const owner = ownerOf(object);
  const clusters = await occupiedBy(owner, statusOf(object).deliveredTo, deps.inventory);
  if (clusters.size === 0 || isReported(object)) return release(context, deps, signal);
  const problems = [...clusters].map(([providerId, nodes]) => {
    const problem = removalUnsupported(nodes, providerId);
    // The message names only some nodes, and the inventory deletes all their records.
    deps.log.warn({ config: owner, providerId, nodes }, problem.message);
    return problem;
  });
  const ending = { kind: 'deleting', problems, waiting: [] } as const;
  // The finalizer patch needs the resourceVersion after this status write.
  return report(context, ending, afterReportMs, deps, signal);
}

const afterReportMs = 1_000;

/** Returns whether the status names the remaining nodes. Only a live object's status has Delivered. */
function isReported(object: ConfigObject): boolean {
  const { conditions } = statusOf(object);
  const reason = findCondition(conditions, 'Ready')?.reason;
  const isLive = findCondition(conditions, 'Delivered') !== undefined;
  return reason === ('RemovalUnsupported' satisfies OperatorReason) && !isLive;
}

const nothingLeft: Left = {
  nodes: [],
  problems: [],
  heldNics: [],
  isHeld: false,
  open: [],
  hadConsent: false,
};

async function withdrawInTime(
  context: ConfigContext,
  deps: DeletionDeps,
  signal: AbortSignal,
): Promise<Left | { readonly earlyMs: number }> {
  const { object } = context;
  const { guard, clock } = deps;
  if (isRetained(object)) return nothingLeft;
  const approval = deletionConsent(object, clock.now());
  const earlyMs = await holdOr(async () => guard.waitMs(object, signal));
  if (!(earlyMs instanceof StepFailure)) {
    const isEarly = earlyMs > 0 && !approval?.digests;
    if (!isEarly || (await isTakenOver(context, deps, signal))) {
      return withdrawAll(context, approval, deps, signal);
    }
    return { earlyMs };
  }
  try {
    return await withdrawAll(context, approval, { ...deps, hold: earlyMs }, signal);
  } catch (error) {
    // The hold stays in the status, where later reconciles read it.
    throw error instanceof StepFailure && !approval ? earlyMs : error;
  }
}

/** True if a successor has already taken over the last node. */
async function isTakenOver(
  context: ConfigContext,
  deps: DeletionDeps,
  signal: AbortSignal,
): Promise<boolean> {
  const occupied = await holdOr(async () => occupiedIn(context, deps, signal));
  return !(occupied instanceof StepFailure) && occupied.own.length + occupied.open.length === 0;
}

/** Returns the step's result, or the hold by the guard: a failed check holds, too. */
async function holdOr<T>(step: () => Promise<T>): Promise<T | StepFailure> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof StepFailure) return error;
    throw error;
  }
}

/**
 * Removes a deleted OpenstackConfig's nodes from its business clusters; returns the nodes and POSTs that delay the
 * deletion. OpenStack is not needed, because each node's source names its OpenstackConfig. `hold`: hold by the guard
 * for all nodes without the user's consent. Throws StepFailure.
 */
async function withdrawAll(
  context: ConfigContext,
  approval: RemovalApproval | undefined,
  deps: DeletionDeps & { readonly hold?: StepFailure },
  signal: AbortSignal,
): Promise<Left> {
  const { object, memory } = context;
  const { uid } = object.metadata;
  const { own, open, violas } = await occupiedIn(context, deps, signal);
  const withdrawal = sortedNodes(own, uid, approval);
  const isAlways = withdrawal.rest.length > 0 || (approval === undefined && own.length > 0);
  const hold =
    (isAlways ? deps.hold : undefined) ?? deps.guard.checkBudgets(object, withdrawal.rest);
  const hasPolicy = deletionPolicyOf(object) === 'Delete' && deps.hold === undefined;
  const removals = removalsOf(withdrawal, {
    approval,
    hasPolicy,
    isHeld: hold !== undefined,
    uid,
    sent: removalMemory.of(memory).sentReleases,
  });
  // Removals and consent are recorded only if they can be sent.
  for (const cluster of new Set(removals.map((one) => one.cluster))) {
    await violas.get(cluster)?.admit();
  }
  await prepare({ withdrawal, removals, approval }, context, deps, signal);
  const gone = await removeAll(removals, violas, context, deps, signal);
  const byPolicy = hasPolicy ? releasedByPolicy(withdrawal, uid) : [];
  const removed = { hold, removals, gone, byPolicy };
  const left = leftOf(withdrawal, removed, context, approval, deps);
  return { ...left, open, hadConsent: approval !== undefined };
}

interface Decided {
  readonly withdrawal: Withdrawal;
  readonly removals: readonly Withdrawn[];
  readonly approval: RemovalApproval | undefined;
}

/** Stores a new consent with counts, and the removals without consent, before the first removal. */
async function prepare(
  { withdrawal: { consented }, removals, approval }: Decided,
  context: ConfigContext,
  { writer, clock }: DeletionDeps,
  signal: AbortSignal,
): Promise<void> {
  if (approval && !approval.isStored && consented.length > 0) {
    const consent = openConsent(context.object, clock.now());
    const counts = countOf(consented);
    await writer.prepare(context, { consent: consent && { ...consent, ...counts } }, signal);
  }
  const named = countOf(removals.filter(({ basis }) => basis === 'named'));
  if (named.nics === 0 || isReleased(latestObject(context))) return;
  await writer.prepare(context, { removals: named, isWithdrawal: true }, signal);
}

/** Removes the nodes in all business clusters; returns the nodes without object. */
async function removeAll(
  removals: readonly Withdrawn[],
  violas: ReadonlyMap<string, ViolaClient>,
  { memory }: ConfigContext,
  { perform }: DeletionDeps,
  signal: AbortSignal,
): Promise<ReadonlySet<ExistingNodeConfig>> {
  const gone = new Set<ExistingNodeConfig>();
  for (const [cluster, viola] of violas) {
    const here = removals.filter((one) => one.cluster === cluster);
    deliveredBases.of(memory.term).note(cluster, here.map(removalsByDelete));
    for (const node of await removeNodes(here, { viola, perform }, signal)) gone.add(node);
    removalMemory.of(memory).noteSent(here.filter(({ node }) => !isThere(node)).map(releaseOf));
  }
  return gone;
}
