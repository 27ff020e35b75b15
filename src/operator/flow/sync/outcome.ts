import type { OpenstackConfigStatus } from '../../../api/openstackconfig.ts';
import { keyOf } from '../../../kube/object.ts';
import type { Outcome } from '../../../kube/reconcile/controller.ts';
import type { Logger } from '../../../process/log.ts';
import { nextTurn } from '../../../process/slices.ts';
import { clusterKeyOf } from '../../model/cluster-key.ts';
import type { ConfigMemories } from '../../model/memory/config-memory.ts';
import { type OperatorMetrics } from '../../model/metrics.ts';
import { secretsInSpec } from '../../model/resolve/credentials.ts';
import { type OperatorSettings, pollingOf } from '../../model/settings/operator.ts';
import type { StatusProblem, StepFailure } from '../../model/step-failure.ts';
import type { SyncContext } from '../../model/sync-context.ts';
import { deliveredCounts, lastDelivered } from '../../report/metrics/delivered-nodes.ts';
import { countDelivery } from '../../report/metrics/metrics.ts';
import type { SyncResult } from '../../report/result.ts';
import type { Ending } from '../../report/status/conditions.ts';
import type { AttemptSchedule } from '../../report/status/next-attempt.ts';
import type { StatusWriter } from '../../report/status/writer.ts';
import { nextSyncMs, pollInterval } from '../schedule/poll-interval.ts';
import { nodeNamesIn, pendingScope } from '../schedule/sync-scope.ts';
import { unconfirmedRemovals } from '../schedule/unconfirmed-removals.ts';
import { waitsOf } from './problems.ts';

export interface OutcomeDeps {
  readonly settings: OperatorSettings;
  readonly memories: Pick<ConfigMemories, 'leaveClouds'>;
  readonly writer: StatusWriter;
  readonly triggers: AttemptSchedule;
  readonly metrics: OperatorMetrics;
  readonly log: Logger;
}

type Scoped = Pick<SyncContext, 'object' | 'memory' | 'scope'>;

/** A partial sync writes no status: a sync of all servers follows immediately and writes the status. */
const immediately: Outcome = { requeueAfterMs: 0 };

/** Writes the status when an OpenstackConfig cannot be resolved; returns when to requeue. */
export async function afterRefusal(
  context: Scoped,
  problems: readonly StatusProblem[],
  deps: OutcomeDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  if (context.scope.servers !== 'all') return immediately;
  deps.memories.leaveClouds(keyOf(context.object));
  const polling = pollingOf(deps.settings);
  const nextMs = pollInterval.of(context.memory).afterFailure(polling, undefined);
  return afterFailedSync(context, { kind: 'refused', problems }, nextMs, deps, signal);
}

/** Writes the status when a sync failed as a whole; returns when to requeue. */
export async function afterFailure(
  context: SyncContext,
  failure: StepFailure,
  deps: OutcomeDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const { memory, config, scope } = context;
  if (scope.servers !== 'all') return immediately;
  const { capped, polling } = config;
  const nextMs = pollInterval.of(memory).afterFailure(polling, failure.retryAfterMs);
  return afterFailedSync(context, { kind: 'failed', failure, capped }, nextMs, deps, signal);
}

async function afterFailedSync(
  context: Scoped,
  ending: Ending,
  nextMs: number,
  { writer, triggers }: OutcomeDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const { object, memory, scope } = context;
  const next = (status: OpenstackConfigStatus) => ({
    ms: nextMs,
    at: triggers.nextAttemptAt(context, status, nextMs),
  });
  await writer.write(context, { ending, next }, signal);
  const failed = { nextMs, nodeNames: undefined };
  return { requeueAfterMs: pendingScope.of(memory).endedAll(object, scope, failed) };
}

/** Writes metrics, log and status after a sync of all servers; returns when to requeue. */
export async function afterSyncOfAll(
  context: SyncContext,
  synced: SyncResult,
  deps: OutcomeDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const { object, memory, scope } = context;
  const nextMs = await report(context, synced, deps, signal);
  const nodeNames = nodeNamesIn(synced);
  const ms = pendingScope.of(memory).endedAll(object, scope, { nextMs, nodeNames });
  return { requeueAfterMs: Math.min(ms, unconfirmedRemovals.of(memory).nextMs()) };
}

/** Returns when to requeue after a partial sync. */
export function afterSyncOfSome({ object, memory }: SyncContext): Outcome {
  const ms = pendingScope.of(memory).endedSome(object);
  return { requeueAfterMs: Math.min(ms, unconfirmedRemovals.of(memory).nextMs()) };
}

/** Returns the milliseconds until the next poll. */
async function report(
  context: SyncContext,
  synced: SyncResult,
  { log, metrics, writer, triggers }: OutcomeDeps,
  signal: AbortSignal,
): Promise<number> {
  const { object, memory, config } = context;
  const { delivery, problems, summary, unverified, duplicate } = synced;
  countDelivery(metrics, config.providerId, delivery);
  lastDelivered.set(memory.term, deliveredCounts(synced, config.providerId));
  await nextTurn();
  const sent = delivery.accepted.length + delivery.removed.length;
  if (sent > 0) log.info({ config: keyOf(object), sent, ...summary }, 'delivered');
  const waiting = waitsOf(synced);
  const secrets = secretsInSpec(config.credentials);
  const unverifiedNodes = synced.nodes.flatMap((node) => (node.isUnverified ? node.nodeName : []));
  const uses = {
    secretsInSpec: secrets,
    unverified,
    unverifiedNodes,
    capped: config.capped,
    duplicate,
    observes: config.viola.observes,
  };
  const ending = { kind: 'synced', sent, problems, waiting, ...uses } as const;
  const { downPortFastRetryMax } = config;
  const completed = { synced, cluster: clusterKeyOf(config), downPortFastRetryMax };
  const next = (status: OpenstackConfigStatus) => {
    const ms = nextSyncMs({ config, synced, status, waiting }, pollInterval.of(memory));
    const soonestMs = Math.min(ms, unconfirmedRemovals.of(memory).nextMs());
    return { ms, at: triggers.nextAttemptAt(context, status, soonestMs) };
  };
  return writer.write(context, { ending, completed, next }, signal);
}
