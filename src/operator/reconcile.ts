import { pauseOf } from '../api/pause.ts';
import type { Store as ObjectStore } from '../kube/cache/store.ts';
import { refOf } from '../kube/object.ts';
import type { Outcome } from '../kube/reconcile/controller.ts';
import { type JoinDeps, joinCloud, type LoginDeps, logIn } from './cloud/login.ts';
import { type CheckNodesDeps, passOnChecks } from './flow/check-nodes/check-nodes.ts';
import {
  type FormerClustersDeps,
  withdrawFromFormerClusters,
} from './flow/deletion/former-clusters.ts';
import { type DeletionDeps, handleDeletion } from './flow/deletion/handle-deletion.ts';
import { decidedSinceMs } from './flow/schedule/decided-since.ts';
import { pollInterval } from './flow/schedule/poll-interval.ts';
import { pendingScope } from './flow/schedule/sync-scope.ts';
import { unconfirmedRemovals } from './flow/schedule/unconfirmed-removals.ts';
import { completeSome, type RecordDeps, recordNodes, resultOf } from './flow/sync/completion.ts';
import { contentOf } from './flow/sync/content.ts';
import { syncContext } from './flow/sync/context.ts';
import { type DeliveryDeps, deliverNodes, prepareDelivery } from './flow/sync/delivery.ts';
import { type ObserveAndPlanDeps, observeAndPlan } from './flow/sync/observe-and-plan.ts';
import {
  afterFailure,
  afterRefusal,
  afterSyncOfAll,
  afterSyncOfSome,
  type OutcomeDeps,
} from './flow/sync/outcome.ts';
import type { Triggers } from './flow/triggers/triggers.ts';
import type { ConfigContext, ConfigMemories } from './model/memory/config-memory.ts';
import { latestObject } from './model/memory/latest-object.ts';
import type { ConfigObject } from './model/openstack-config.ts';
import { resolveConfig } from './model/resolve/resolve.ts';
import { attempt, StepFailure } from './model/step-failure.ts';
import { type SyncContext } from './model/sync-context.ts';
import { isDecided, type SyncResult } from './report/result.ts';
import { publishReads } from './serve/read-api/reads-of-sync.ts';
import { storePlan } from './serve/what-if/store-plan.ts';

interface OwnDeps {
  readonly configs: Pick<ObjectStore<ConfigObject>, 'get'>;
  readonly memories: ConfigMemories;
  readonly triggers: Triggers;
}

type FirstHalfDeps = LoginDeps & JoinDeps & ObserveAndPlanDeps;
type SecondHalfDeps = DeliveryDeps & RecordDeps & FormerClustersDeps;
type StepDeps = FirstHalfDeps & SecondHalfDeps;
type Deps = OwnDeps & StepDeps & OutcomeDeps & DeletionDeps & CheckNodesDeps;

/**
 * Creates the reconcile function for OpenstackConfigs. A deleted object is removed from its nodes, paused or
 * not. A paused object is left unchanged. Any remaining object is synced when the trigger policy has a cause.
 */
export function createReconciler(deps: Deps) {
  const { configs, memories, writer, cloudAges, triggers } = deps;

  return async function reconcile(key: string, signal: AbortSignal): Promise<Outcome | undefined> {
    const cached = configs.get(key);
    if (!cached) return forget(key, deps);
    const memory = memories.of(cached);
    const object = latestObject({ object: cached, memory });
    const context = { object, memory };
    if (object.metadata.deletionTimestamp !== undefined) {
      pollInterval.of(memory).begin(object);
      memories.leaveClouds(key);
      return handleDeletion(context, deps, signal);
    }
    if (pauseOf(object).isPaused) {
      cloudAges.leave(key);
      return writer.pause(context, signal);
    }
    pollInterval.of(memory).begin(object);
    const synced = await triggers.pass(context, async () => sync(context, deps, signal), signal);
    return soonest(synced, await passOnChecks(context, deps, signal));
  };
}

async function sync(context: ConfigContext, deps: Deps, signal: AbortSignal): Promise<Outcome> {
  const { object, memory } = context;
  const { settings, clock, log } = deps;
  const startedMs = clock.monotonicMs();
  const pending = pendingScope.of(memory);
  pending.noteServers(unconfirmedRemovals.of(memory).due());
  const scope = pending.take(object);
  const resolution = resolveConfig(object, settings);
  if (resolution.kind === 'refused') {
    return afterRefusal({ ...context, scope }, resolution.problems, deps, signal);
  }
  const started = syncContext({ ...context, scope, config: resolution.config }, clock);
  const ending = await attempt(
    async () => syncNodes(started, deps, signal),
    { ...context, log },
    signal,
  );
  if (ending instanceof StepFailure) return afterFailure(started, ending, deps, signal);
  if (ending === undefined) return afterSyncOfSome(started);
  if (isDecided(ending)) decidedSinceMs.set(memory.term, startedMs);
  return afterSyncOfAll(started, ending, deps, signal);
}

/**
 * Runs a sync's steps. A failure in one part does not stop the remaining delivery. Returns undefined for a
 * partial sync: status and inventory follow with the next sync of all servers. Throws StepFailure.
 */
async function syncNodes(
  context: SyncContext,
  deps: StepDeps & OutcomeDeps,
  signal: AbortSignal,
): Promise<SyncResult | undefined> {
  const login = await logIn(context, deps, signal);
  const view = joinCloud(context, login, deps);
  const planned = await observeAndPlan(context, { ...login, view }, deps, signal);
  // A what-if ends here: all effects on nodes, status and records follow.
  await storePlan(planned, deps.clock, signal);
  await prepareDelivery(planned, deps, signal);
  const delivered = { ...planned, rounds: await deliverNodes(planned, deps, signal) };
  if (context.scope.servers !== 'all') return completeSome(delivered, deps);
  const content = contentOf(delivered);
  await publishReads(delivered, content, deps.clock.now());
  await recordNodes(delivered, content, deps);
  const former = await withdrawFromFormerClusters(delivered, deps, signal);
  return resultOf(delivered, content, former);
}

/** Returns the earlier requeue; undefined: none. */
function soonest(...outcomes: readonly (Outcome | undefined)[]): Outcome | undefined {
  const waits = outcomes.flatMap((outcome) => outcome?.requeueAfterMs ?? []);
  return waits.length > 0 ? { requeueAfterMs: Math.min(...waits) } : outcomes[0];
}

/** Drops all data about a deleted OpenstackConfig. */
async function forget(key: string, { memories, inventory }: Deps): Promise<undefined> {
  memories.drop(key);
  const { namespace = '', name } = refOf(key);
  await inventory.forget({ namespace, name });
}
