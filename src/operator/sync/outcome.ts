import { keyOf } from '../../kube/object.ts';
import type { Outcome } from '../../kube/reconcile/controller.ts';
import type { Logger } from '../../process/log.ts';
import { nextTurn } from '../../process/slices.ts';
import type { ConfigMemories } from '../memory/config-memory.ts';
import { deliveredCounts } from '../metrics/delivered-nodes.ts';
import { countDelivery, type OperatorMetrics } from '../metrics/metrics.ts';
import { secretsInSpec } from '../resolve/credentials.ts';
import { nextSyncMs } from '../schedule/poll-interval.ts';
import { nodeNamesIn } from '../schedule/sync-scope.ts';
import { type OperatorSettings, pollingOf } from '../settings.ts';
import type { StatusProblem, StepFailure } from '../status/step-failure.ts';
import type { StatusWriter } from '../status/writer.ts';
import type { SyncContext } from './context.ts';
import { waitsOf } from './problems.ts';
import type { SyncResult } from './result.ts';

export interface OutcomeDeps {
  readonly settings: OperatorSettings;
  readonly memories: Pick<ConfigMemories, 'leaveClouds'>;
  readonly writer: StatusWriter;
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
  { settings, memories, writer }: OutcomeDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  if (context.scope.servers !== 'all') return immediately;
  memories.leaveClouds(keyOf(context.object));
  await writer.write(context, { kind: 'refused', problems }, signal);
  const { pollInterval } = context.memory;
  return afterFailedSync(context, pollInterval.afterFailure(pollingOf(settings), undefined));
}

/** Writes the status when a sync failed as a whole; returns when to requeue. */
export async function afterFailure(
  context: SyncContext,
  failure: StepFailure,
  { writer }: OutcomeDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const { memory, config, scope } = context;
  if (scope.servers !== 'all') return immediately;
  const { capped, polling } = config;
  await writer.write(context, { kind: 'failed', failure, capped }, signal);
  return afterFailedSync(context, memory.pollInterval.afterFailure(polling, failure.retryAfterMs));
}

function afterFailedSync({ object, memory, scope }: Scoped, nextMs: number): Outcome {
  const ending = { nextMs, nodeNames: undefined };
  return { requeueAfterMs: memory.pendingScope.endedAll(object, scope, ending) };
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
  const ms = memory.pendingScope.endedAll(object, scope, { nextMs, nodeNames });
  return { requeueAfterMs: Math.min(ms, memory.unconfirmedRemovals.nextMs()) };
}

/** Returns when to requeue after a partial sync. */
export function afterSyncOfSome({ object, memory }: SyncContext): Outcome {
  const ms = memory.pendingScope.endedSome(object);
  return { requeueAfterMs: Math.min(ms, memory.unconfirmedRemovals.nextMs()) };
}

/** Returns the milliseconds until the next poll. */
async function report(
  context: SyncContext,
  synced: SyncResult,
  { log, metrics, writer }: OutcomeDeps,
  signal: AbortSignal,
): Promise<number> {
  const { object, memory, config } = context;
  const { delivery, problems, summary, unverified, duplicate } = synced;
  countDelivery(metrics, config.providerId, delivery);
  memory.term.delivered = deliveredCounts(synced);
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
  };
  const ending = { kind: 'synced', sent, problems, waiting, ...uses } as const;
  const { downPortFastRetryMax } = config;
  const status = await writer.write(context, ending, signal, { synced, downPortFastRetryMax });
  return nextSyncMs({ config, synced, status, waiting }, memory.pollInterval);
}
