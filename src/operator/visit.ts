import type { OpenstackConfigStatus } from '../api/openstackconfig.ts';
import type { OperatorReason } from '../api/reasons.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { keyOf } from '../kube/object.ts';
import type { Outcome } from '../kube/reconcile/controller.ts';
import type { Clock } from '../time/clock.ts';
import { addFinalizer } from './finalizer.ts';
import { type LookDeps, type Looked, look } from './look.ts';
import { countDelivery, type OperatorMetrics } from './metrics.ts';
import {
  allowRemovalsOf,
  type ConfigObject,
  generationOf,
  reconcileAtOf,
  statusOf,
} from './openstack-config.ts';
import type { Pace } from './pace.ts';
import type { Reporter } from './report.ts';
import { type ResolvedConfig, resolveConfig } from './resolve/resolve.ts';
import { pollingOf } from './settings.ts';
import { attempt } from './status/attempt.ts';
import { statusAfter } from './status/status.ts';
import { StepFailure } from './status/step-failure.ts';
import type { Verdict } from './status/verdict.ts';

export interface VisitDeps extends LookDeps {
  readonly client: Pick<KubeClient, 'find' | 'patch'>;
  readonly reporter: Reporter;
  readonly pace: Pace;
  readonly clock: Clock;
  readonly metrics: OperatorMetrics;
}

/** Resolves, looks, delivers and reports; answers when to come again. */
export async function visit(
  object: ConfigObject,
  deps: VisitDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const { settings, pace, views, log } = deps;
  const resolution = resolveConfig(object, settings);
  if (resolution.kind === 'refused') {
    views.leave(keyOf(object));
    await report(object, { kind: 'refused', troubles: resolution.problems }, deps, signal);
    return { requeueAfterMs: pace.afterFailure(object, pollingOf(settings), undefined) };
  }
  const { config } = resolution;
  const looked = await attempt(async () => lookAt(object, config, deps, signal), log, signal);
  if (looked instanceof StepFailure) {
    await report(object, { kind: 'failed', failure: looked }, deps, signal);
    return { requeueAfterMs: pace.afterFailure(object, config.polling, looked.retryAfterMs) };
  }
  return settle({ object, config, looked }, deps, signal);
}

async function lookAt(
  object: ConfigObject,
  config: ResolvedConfig,
  deps: VisitDeps,
  signal: AbortSignal,
): Promise<Looked> {
  const { lastHandledReconcileAt, lastHandledAllowRemovals } = statusOf(object);
  const force = isNew(reconcileAtOf(object), lastHandledReconcileAt);
  const allowRemovals = isNew(allowRemovalsOf(object), lastHandledAllowRemovals);
  const maxAgeMs = force ? 0 : deps.pace.maxAgeMs(object, config.polling);
  const beforeDelivery = async () => addFinalizer(object, deps, signal);
  return look({ object, config, force, allowRemovals, maxAgeMs, beforeDelivery }, deps, signal);
}

/** Whether an annotation has a value that was not acted upon yet. */
function isNew(value: string, handled: string | undefined): boolean {
  return value !== '' && value !== handled;
}

/** A look that came through, and what it was about. */
interface Synced {
  readonly object: ConfigObject;
  readonly config: ResolvedConfig;
  readonly looked: Looked;
}

async function settle(synced: Synced, deps: VisitDeps, signal: AbortSignal): Promise<Outcome> {
  const { object, config, looked } = synced;
  const { pace, log, metrics } = deps;
  const { delivery, troubles, summary } = looked.result;
  countDelivery(metrics, config.providerId, delivery);
  const sent = delivery.accepted.length + delivery.removed.length;
  if (sent > 0) log.info({ config: keyOf(object), sent, ...summary }, 'delivered');
  const waiting = waits(looked);
  const verdict: Verdict = { kind: 'synced', sent, troubles, waiting };
  const { downPortRetry } = await report(object, verdict, deps, signal, synced);
  if (troubles.some(({ reason }) => transient.has(reason))) {
    const asked = Math.max(0, ...delivery.failures.map(({ retryAfterMs = 0 }) => retryAfterMs));
    return { requeueAfterMs: pace.afterFailure(object, config.polling, asked) };
  }
  const { fastAttempts = config.downPortFastRetryMax } = downPortRetry ?? {};
  const requeueAfterMs = pace.afterSync(object, config.polling, {
    changed: sent > 0,
    waiting: waiting.length > 0,
    downPorts: fastAttempts < config.downPortFastRetryMax,
  });
  return { requeueAfterMs };
}

/** Troubles of a service, which pass by themselves; the others wait for somebody to change something. */
const transient: ReadonlySet<string> = new Set<OperatorReason>([
  'NeutronPortError',
  'NeutronSubnetError',
  'NovaServerError',
  'ViolaPostError',
]);

function waits({ result: { nodes, delivery }, leaving }: Looked): string[] {
  return [
    ...nodes.filter(({ waiting }) => waiting).map(({ nodeName, why }) => `${nodeName}: ${why}`),
    ...delivery.waiting.map((nodeName) => `${nodeName}: the object changes or goes`),
    ...leaving.map(({ nodeName }) => `${nodeName}: leaves the business cluster it was in`),
  ];
}

/** Writes the status of a visit; one that did not come to a sync keeps what the last one saw. */
async function report(
  object: ConfigObject,
  verdict: Verdict,
  { reporter, settings, clock }: VisitDeps,
  signal: AbortSignal,
  synced?: Synced,
): Promise<OpenstackConfigStatus> {
  const result = synced?.looked.result;
  const status = statusAfter({
    verdict,
    result,
    previous: statusOf(object),
    generation: generationOf(object),
    now: clock.now(),
    downPortFastRetryMax: synced?.config.downPortFastRetryMax ?? settings.downPortFastRetryMax,
    handled: result ? handledBy(object, result) : {},
  });
  await reporter.report(object, status, signal);
  return status;
}

/** A wish is fulfilled when a sync came through with it; leave to remove, when everything was delivered as well. */
function handledBy(object: ConfigObject, { delivery }: Looked['result']) {
  const reconcileAt = reconcileAtOf(object);
  const allowRemovals = delivery.failures.length === 0 ? allowRemovalsOf(object) : '';
  return {
    ...(reconcileAt === '' ? {} : { reconcileAt }),
    ...(allowRemovals === '' ? {} : { allowRemovals }),
  };
}
