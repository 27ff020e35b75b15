import type { Store as ObjectStore } from '../kube/cache/store.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { keyOf, refOf } from '../kube/object.ts';
import type { Outcome } from '../kube/reconcile/controller.ts';
import type { Plan } from '../plan/plan.ts';
import type { Clock, Random } from '../time/clock.ts';
import { type AccessDeps, access } from './access.ts';
import { type LeaveDeps, leave } from './deletion/leave.ts';
import { leaveOthers } from './deletion/withdraw.ts';
import { deliverInRounds } from './deliver/delivery-rounds.ts';
import { nodesAfter } from './inventory.ts';
import { countDelivery, type OperatorMetrics } from './metrics.ts';
import type { CloudViews } from './observe/cloud-view.ts';
import { observe, serversWithNewPorts } from './observe/observe.ts';
import {
  addFinalizer,
  type ConfigObject,
  isPaused,
  ownerOf,
  statusOf,
} from './openstack-config.ts';
import { nextLookMs, type Pace } from './pace.ts';
import { planInput, prove } from './prove.ts';
import { secretsInSpec } from './resolve/credentials.ts';
import { type ResolvedConfig, resolveConfig } from './resolve/resolve.ts';
import { pollingOf } from './settings.ts';
import { isOutage, type SyncResult, troublesIn, waitsOf } from './status/status.ts';
import { attempt, StepFailure } from './status/step-failure.ts';
import { syncRequestOf } from './sync-request.ts';

interface ReconcilerDeps extends AccessDeps, LeaveDeps {
  readonly client: Pick<KubeClient, 'find' | 'patch'>;
  readonly configs: Pick<ObjectStore<ConfigObject>, 'get' | 'list'>;
  readonly views: CloudViews;
  readonly pace: Pace;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: OperatorMetrics;
}

/**
 * Makes the reconcile function of OpenstackConfigs. A deleted one is taken back from the nodes, paused or not; a paused
 * one is left alone; the steps of any other are below.
 */
export function createReconciler(deps: ReconcilerDeps) {
  const { configs, writer, pace, views } = deps;

  return async function reconcile(key: string, signal: AbortSignal): Promise<Outcome | undefined> {
    const cached = configs.get(key);
    if (!cached) return forget(key, deps);
    const object = writer.latest(cached);
    const isLive = object.metadata.deletionTimestamp === undefined;
    if (isLive && isPaused(object)) return writer.pause(object, signal);
    pace.begin(object);
    if (isLive) return reconcileLive(object, deps, signal);
    views.leave(key);
    return leave(object, deps, signal);
  };
}

async function forget(key: string, { pace, writer, views, inventory }: ReconcilerDeps) {
  for (const each of [pace, writer]) each.forget(key);
  views.leave(key);
  const { namespace = '', name } = refOf(key);
  await inventory.forget({ namespace, name });
  return undefined;
}

async function reconcileLive(
  object: ConfigObject,
  deps: ReconcilerDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const { settings, pace, views, writer, log } = deps;
  const resolution = resolveConfig(object, settings);
  if (resolution.kind === 'refused') {
    views.leave(keyOf(object));
    await writer.write(object, { kind: 'refused', troubles: resolution.problems }, signal);
    return { requeueAfterMs: pace.afterFailure(object, pollingOf(settings), undefined) };
  }
  const { config } = resolution;
  const synced = await attempt(async () => sync(object, config, deps, signal), log, signal);
  if (synced instanceof StepFailure) {
    await writer.write(object, { kind: 'failed', failure: synced }, signal);
    return { requeueAfterMs: pace.afterFailure(object, config.polling, synced.retryAfterMs) };
  }
  return settle(object, config, synced, deps, signal);
}

/** The steps of a live OpenstackConfig: everything that can be delivered is, whatever else fails. Throws StepFailure. */
async function sync(
  object: ConfigObject,
  config: ResolvedConfig,
  deps: ReconcilerDeps,
  signal: AbortSignal,
): Promise<SyncResult> {
  const { inventory, perform, unanswered } = deps;
  const { providerId } = config;
  const request = syncRequestOf(object, config, deps);
  const { source } = request;
  const { view, viola } = await access(request, deps, signal);
  const seen = await observe(request, { view, viola }, signal);
  const recorded = await inventory.nicsOf(serversWithNewPorts(seen));
  const proven = await prove(planInput(request, { ...seen, recorded }), view, deps, signal);
  const { input, plan } = proven;
  const evidenceComplete = proven.evidenceComplete && input.selection.subnetsComplete;
  if (concernsNodes(plan)) await announce(object, config, deps, signal);
  const onUnanswered = () => unanswered.failed(source, providerId);
  const sending = { source, perform, viola, unreadable: seen.unreadable, onUnanswered };
  const rounds = await deliverInRounds(proven, sending, signal);
  await inventory.record(providerId, source, nodesAfter(rounds, source), rounds.unreadable);
  const { deliveredTo } = statusOf(deps.writer.latest(object));
  const others = await leaveOthers({ ...request, deliveredTo }, deps, signal);
  const troubles = troublesIn({ seen, plan, rounds, others });
  const { observation } = input;
  const ending = { summary: plan.summary, evidenceComplete, isOutage: isOutage({ seen, rounds }) };
  return { ...rounds, ...others, ...ending, observation, troubles };
}

/** Nodes are sent, or lie there already: the object must not go without us. */
function concernsNodes({ nodes }: Plan): boolean {
  return nodes.some(({ action, base }) => action !== 'none' || base !== null);
}

/** Sees to it that nodes are found again, whatever happens to the object or to this process. */
async function announce(
  object: ConfigObject,
  { providerId }: ResolvedConfig,
  deps: ReconcilerDeps,
  signal: AbortSignal,
): Promise<void> {
  await addFinalizer(object, deps, signal);
  const isFirst = await deps.writer.deliversTo(object, providerId, signal);
  if (isFirst) deps.unanswered.begin(ownerOf(object), providerId);
}

async function settle(
  object: ConfigObject,
  config: ResolvedConfig,
  synced: SyncResult,
  { pace, log, metrics, writer }: ReconcilerDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const { delivery, troubles, summary } = synced;
  countDelivery(metrics, config.providerId, delivery);
  const sent = delivery.accepted.length + delivery.removed.length;
  if (sent > 0) log.info({ config: keyOf(object), sent, ...summary }, 'delivered');
  const waiting = waitsOf(synced);
  const told = secretsInSpec(config.credentials);
  const ending = { kind: 'synced', sent, troubles, waiting, secretsInSpec: told } as const;
  const { downPortFastRetryMax } = config;
  const status = await writer.write(object, ending, signal, { synced, downPortFastRetryMax });
  return { requeueAfterMs: nextLookMs({ object, config, synced, status, waiting }, pace) };
}
