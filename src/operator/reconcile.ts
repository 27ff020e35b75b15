import { pauseOf } from '../api/pause.ts';
import type { Store as ObjectStore } from '../kube/cache/store.ts';
import { refOf } from '../kube/object.ts';
import type { Outcome } from '../kube/reconcile/controller.ts';
import { type CheckNodesDeps, passOnChecks } from './check-nodes/check-nodes.ts';
import { type FormerClustersDeps, withdrawFromFormerClusters } from './deletion/former-clusters.ts';
import { type DeletionDeps, handleDeletion } from './deletion/handle-deletion.ts';
import type { ConfigContext, ConfigMemories } from './memory/config-memory.ts';
import { latestObject } from './memory/latest-object.ts';
import type { ConfigObject } from './openstack-config.ts';
import { resolveConfig } from './resolve/resolve.ts';
import { attempt, StepFailure } from './status/step-failure.ts';
import { completeSome, type RecordDeps, recordNodes, resultOf } from './sync/completion.ts';
import { type JoinDeps, joinCloud, type LoginDeps, logIn } from './sync/connections.ts';
import { type SyncContext, syncContext } from './sync/context.ts';
import { type DeliveryDeps, deliverNodes, prepareDelivery } from './sync/delivery.ts';
import { type ObserveAndPlanDeps, observeAndPlan } from './sync/observe-and-plan.ts';
import {
  afterFailure,
  afterRefusal,
  afterSyncOfAll,
  afterSyncOfSome,
  type OutcomeDeps,
} from './sync/outcome.ts';
import { isDecided, type SyncResult } from './sync/result.ts';
import type { Triggers } from './triggers/triggers.ts';
import { storePlan } from './what-if/store-plan.ts';

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
      memory.pollInterval.begin(object);
      memories.leaveClouds(key);
      return handleDeletion(context, deps, signal);
    }
    if (pauseOf(object).isPaused) {
      cloudAges.leave(key);
      return writer.pause(context, signal);
    }
    memory.pollInterval.begin(object);
    const synced = await triggers.pass(context, async () => sync(context, deps, signal), signal);
    return soonest(synced, await passOnChecks(context, deps, signal));
  };
}

async function sync(context: ConfigContext, deps: Deps, signal: AbortSignal): Promise<Outcome> {
  const { object, memory } = context;
  const { settings, clock, log } = deps;
  const startedMs = clock.monotonicMs();
  memory.pendingScope.noteServers(memory.unconfirmedRemovals.due());
  const scope = memory.pendingScope.take(object);
  const resolution = resolveConfig(object, settings);
  if (resolution.kind === 'refused') {
    return afterRefusal({ ...context, scope }, resolution.problems, deps, signal);
  }
  const started = syncContext({ ...context, scope, config: resolution.config }, clock);
  const ending = await attempt(async () => syncNodes(started, deps, signal), log, signal);
  if (ending instanceof StepFailure) return afterFailure(started, ending, deps, signal);
  if (ending === undefined) return afterSyncOfSome(started);
  if (isDecided(ending)) memory.term.decidedSinceMs = startedMs;
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
  await recordNodes(delivered, deps);
  const former = await withdrawFromFormerClusters(delivered, deps, signal);
  return resultOf(delivered, former);
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
