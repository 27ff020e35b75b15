import { pauseOf } from '../api/pause.ts';
import { keyOf, refOf } from '../kube/object.ts';
import type { Outcome } from '../kube/reconcile/controller.ts';
import { nextTurn } from '../process/slices.ts';
import type { BrokerSecrets } from './broker-secret/broker-secrets.ts';
import { type LeaveDeps, leave } from './deletion/leave.ts';
import type { Fleet } from './metrics/delivered-nodes.ts';
import { countDelivery } from './metrics/metrics.ts';
import type { ConfigObject } from './openstack-config.ts';
import { secretsInSpec } from './resolve/credentials.ts';
import { type ResolvedConfig, resolveConfig } from './resolve/resolve.ts';
import { Doubts } from './schedule/pending-evidence.ts';
import { nextLookMs } from './schedule/poll-interval.ts';
import { type Extent, type Looks, nodeNamesIn } from './schedule/scope.ts';
import { pollingOf } from './settings.ts';
import { attempt, StepFailure } from './status/step-failure.ts';
import { PlanMemory } from './sync/plan-memory.ts';
import { RecentRemovals } from './sync/recent-removals.ts';
import type { SyncResult } from './sync/result.ts';
import { type SyncDeps, syncAll, syncSome } from './sync/sync.ts';
import { waitsOf } from './sync/troubles.ts';
import type { Triggers } from './triggers/triggers.ts';

interface ReconcilerDeps extends Omit<SyncDeps, 'doubts' | 'recentRemovals' | 'plans'>, LeaveDeps {
  readonly client: SyncDeps['client'];
  readonly looks: Looks;
  readonly triggers: Triggers;
  readonly fleet: Fleet;
  readonly brokerSecrets: Pick<BrokerSecrets, 'keep' | 'forget'>;
}

type Deps = ReconcilerDeps & Pick<SyncDeps, 'doubts' | 'recentRemovals' | 'plans'>;

/**
 * Makes the reconcile function of OpenstackConfigs. A deleted one is taken back from the nodes, paused or not; a paused
 * one is left alone; any other is looked at when there is a cause, whole or in part.
 */
export function createReconciler(options: ReconcilerDeps) {
  const { configs, writer, pace, views, notifications, cloudLooks, triggers, clock } = options;
  const doubts = new Doubts(clock);
  const recentRemovals = new RecentRemovals(clock);
  const deps = { ...options, doubts, recentRemovals, plans: new PlanMemory(clock) };

  return async function reconcile(key: string, signal: AbortSignal): Promise<Outcome | undefined> {
    const cached = configs.get(key);
    if (!cached) return forget(key, deps);
    const object = writer.latest(cached);
    const isLive = object.metadata.deletionTimestamp === undefined;
    if (isLive && pauseOf(object).isPaused) {
      cloudLooks.leave(key);
      return writer.pause(object, signal);
    }
    pace.begin(object);
    if (!isLive) {
      for (const each of [views, notifications, cloudLooks]) each.leave(key);
      return leave(object, deps, signal);
    }
    return triggers.pass(object, async () => look(object, deps, signal), signal);
  };
}

async function look(object: ConfigObject, deps: Deps, signal: AbortSignal): Promise<Outcome> {
  const { looks, doubts } = deps;
  const key = keyOf(object);
  looks.note(key, doubts.due(key));
  const extent = looks.take(object);
  if (extent.scope === 'all') return lookAtAll(object, extent, deps, signal);
  return lookAtSome(object, extent, deps, signal);
}

async function forget(key: string, deps: Deps) {
  const { pace, writer, views, notifications, looks, triggers, doubts, inventory } = deps;
  const { fleet, cloudLooks, brokerSecrets, plans } = deps;
  const forgetful = [pace, writer, looks, triggers, doubts, fleet, brokerSecrets, plans];
  for (const each of forgetful) each.forget(key);
  for (const each of [views, notifications, cloudLooks]) each.leave(key);
  const { namespace = '', name } = refOf(key);
  await inventory.forget({ namespace, name });
  return undefined;
}

/** Everything that can be delivered is, whatever else fails, and the status says what became of it. */
async function lookAtAll(
  object: ConfigObject,
  extent: Extent,
  deps: Deps,
  signal: AbortSignal,
): Promise<Outcome> {
  const { settings, pace, views, notifications, cloudLooks, writer, log, looks } = deps;
  const ended = (nextMs: number): Outcome => {
    const ms = looks.ended(object, extent, { nextMs, nodeNames: undefined });
    return { requeueAfterMs: ms };
  };
  const resolution = resolveConfig(object, settings);
  if (resolution.kind === 'refused') {
    for (const each of [views, notifications, cloudLooks]) each.leave(keyOf(object));
    await writer.write(object, { kind: 'refused', troubles: resolution.problems }, signal);
    return ended(pace.afterFailure(object, pollingOf(settings), undefined));
  }
  const { config } = resolution;
  const synced = await attempt(
    async () => syncAll(object, config, extent, deps, signal),
    log,
    signal,
  );
  if (synced instanceof StepFailure) {
    const { capped } = config;
    await writer.write(object, { kind: 'failed', failure: synced, capped }, signal);
    return ended(pace.afterFailure(object, config.polling, synced.retryAfterMs));
  }
  const nextMs = await settle(object, config, synced, deps, signal);
  const ms = looks.ended(object, extent, { nextMs, nodeNames: nodeNamesIn(synced) });
  return { requeueAfterMs: Math.min(ms, deps.doubts.nextMs(keyOf(object))) };
}

/** What was said of some servers is brought about at once; the look at all that follows soon says so. */
async function lookAtSome(
  object: ConfigObject,
  extent: Extent,
  deps: Deps,
  signal: AbortSignal,
): Promise<Outcome> {
  const { settings, log, looks, doubts } = deps;
  const key = keyOf(object);
  const resolution = resolveConfig(object, settings);
  if (resolution.kind === 'resolved') {
    const { config } = resolution;
    const done = await attempt(
      async () => syncSome(object, config, extent, deps, signal),
      log,
      signal,
    );
    if (!(done instanceof StepFailure)) {
      return { requeueAfterMs: Math.min(looks.endedSome(object), doubts.nextMs(key)) };
    }
  }
  return { requeueAfterMs: 0 };
}

/** Tells what came of a look at all servers; answers when the next one is due. */
async function settle(
  object: ConfigObject,
  config: ResolvedConfig,
  synced: SyncResult,
  { pace, log, metrics, writer, fleet }: Deps,
  signal: AbortSignal,
): Promise<number> {
  const { delivery, troubles, summary, unverified } = synced;
  countDelivery(metrics, config.providerId, delivery);
  fleet.note(keyOf(object), synced);
  await nextTurn();
  const sent = delivery.accepted.length + delivery.removed.length;
  if (sent > 0) log.info({ config: keyOf(object), sent, ...summary }, 'delivered');
  const waiting = waitsOf(synced);
  const told = secretsInSpec(config.credentials);
  const seen = { secretsInSpec: told, unverified, capped: config.capped };
  const ending = { kind: 'synced', sent, troubles, waiting, ...seen } as const;
  const { downPortFastRetryMax } = config;
  const status = await writer.write(object, ending, signal, { synced, downPortFastRetryMax });
  return nextLookMs({ object, config, synced, status, waiting }, pace);
}
