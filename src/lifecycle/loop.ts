import type { Effect } from '../api/effects.ts';
import type { metricTable } from '../api/metrics.ts';
import { labels as labelNames } from '../api/names.ts';
import type { Change, StoreView } from '../kube/cache/store.ts';
import { aroundWrites } from '../kube/client/around-writes.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { createEventRecorder } from '../kube/events.ts';
import { LeaseLostError } from '../kube/lease/lease-lock.ts';
import { type KubeObject, keyOf } from '../kube/object.ts';
import { createController, type Source, sourceOf } from '../kube/reconcile/controller.ts';
import { together } from '../kube/reconcile/together.ts';
import { countWork, sampleSilence, sampleWork } from '../kube-metrics.ts';
import type { Perform } from '../process/effects.ts';
import type { PartContext } from '../process/part.ts';
import { withDeadline } from '../time/deadline.ts';
import { createDeletion } from './deletion/deletion.ts';
import { sampleOperators } from './metrics.ts';
import { Applier } from './objects/applier.ts';
import { createCarryOut } from './objects/carry-out.ts';
import { createObserve } from './objects/observe.ts';
import { createStores } from './objects/stores.ts';
import { createReconcile } from './reconcile.ts';
import type { LifecycleSettings } from './settings.ts';
import { createBackupMetrics } from './stages/backup/metrics.ts';
import { RestoreAnnouncer } from './stages/backup/restore-announcer.ts';
import { BreakGlassAnnouncer } from './stages/protection/break-glass.ts';
import type { Webhook } from './stages/protection/webhook.ts';
import { isReportOnly } from './status/change.ts';
import { createStatusWriter } from './status/writer.ts';
import { createWatches } from './watches.ts';

const name = 'multinicoperator';
/** Milliseconds at process end for the last namespace check. */
const releaseMs = 10_000;

export interface LoopOptions {
  readonly client: KubeClient;
  readonly settings: LifecycleSettings;
  readonly context: PartContext<typeof metricTable>;
  readonly perform: Perform<Effect>;
  readonly webhook: Webhook;
  readonly kubernetesMinor: number;
}

/** Wires all components that run while this process is the leader. */
export function createLoop(options: LoopOptions) {
  const { client, settings, context, perform, webhook, kubernetesMinor } = options;
  const { clock, random, log, metrics } = context;
  const { namespace } = settings;
  const stores = createStores(namespace);
  const recorder = createEventRecorder({
    client: aroundWrites(client, (write) => perform('lifecycle.event.write', write)),
    component: 'multinic-lifecycle',
    clock,
    onError: (error) => log.warn({ err: error }, 'event not written'),
  });
  const applier = new Applier({ client, perform, live: stores.live, clock });
  const deletion = createDeletion({ client, applier, stores, namespace, perform });
  const recordBackups = createBackupMetrics(metrics);
  const restores = new RestoreAnnouncer(recorder);
  const statusWriter = createStatusWriter({
    client,
    perform,
    clock,
    webhookAnswers: () => webhook.answers,
  });
  const reconcile = createReconcile({
    observe: createObserve({ client, stores, namespace, kubernetesMinor, clock }),
    applier,
    carryOut: createCarryOut({ applier, recorder, metrics, log }),
    deletion,
    status: {
      ...statusWriter,
      write: async (observed, outcomes, signal) => {
        recordBackups(observed, outcomes.backup.plan.report);
        restores.note(observed);
        await statusWriter.write(observed, outcomes, signal);
      },
    },
    webhook: () => webhook.access,
    breakGlass: new BreakGlassAnnouncer({ recorder, metrics }),
    clock,
    random,
  });
  const reflectors = createWatches({ client, context, namespace, stores });
  /** Any change concerns every MultiNicOperator, because only one exists. */
  const all = (): readonly string[] => stores.operators.keys();
  /** Also enqueues a deleted MultiNicOperator that left its webhook configuration. */
  const withOwner = ({ object }: Change<KubeObject>): readonly string[] => {
    const { [labelNames.managedByOperator]: owner } = object.metadata.labels ?? {};
    return owner === undefined ? all() : [...all(), keyOf({ namespace, name: owner })];
  };
  const watched = Object.entries(stores).filter(([key]) => key !== 'live' && key !== 'operators');
  const sources: Source<KubeObject>[] = watched.map(([key, store]) =>
    sourceOf(store as StoreView<KubeObject>, key === 'webhookConfigurations' ? withOwner : all),
  );
  const controller = createController({
    name,
    workers: 1,
    reconcile,
    reflectors,
    clock,
    random,
    sources: [
      sourceOf(stores.operators, (change) => (isReportOnly(change) ? [] : [change.key, ...all()])),
      ...sources,
    ],
    observer: countWork(metrics, name),
    onResult: ({ key, error, durationMs }) => {
      const labels = { controller: name };
      const result = error === undefined ? 'success' : 'error';
      const status = error === undefined ? 'success' : 'reconcile_error';
      metrics.count('multinic_operator_reconcile_total', { result });
      metrics.count('multinic_reconcile_total', { ...labels, result, status });
      metrics.observe('multinic_reconcile_duration_seconds', labels, durationMs / 1000);
      if (error !== undefined)
        log.warn({ err: error, operator: key }, 'reconcile failed, retrying');
    },
  });
  sampleOperators(metrics, stores);
  sampleWork(metrics, name, controller);
  for (const reflector of reflectors) sampleSilence(metrics, reflector);
  webhook.onChange(() => {
    for (const key of all()) controller.enqueue(key);
  });

  /** Since Kubernetes 1.33, namespace deletion stops Pods first, possibly before the watch reports the deletion. */
  async function releaseAtExit({ reason }: AbortSignal): Promise<void> {
    if (reason instanceof LeaseLostError) return; // Another replica leads.
    try {
      await withDeadline({ clock, ms: releaseMs }, async (signal) =>
        deletion.releaseAtExit(signal),
      );
    } catch (error) {
      log.warn({ err: error }, 'deletion of the own namespace cannot be checked');
    }
  }

  return {
    run: (leading: AbortSignal) =>
      recorder.during(leading, async () => {
        await together(leading, clock, {
          objects: (end) => controller.run(end),
          certificates: (end) => webhook.keepCertificates(end),
        });
        await releaseAtExit(leading);
      }),
    /** A process without the lease is ready: it serves the webhook. */
    notReady: () => {
      const late = reflectors.filter(({ state }) => state === 'listing' || state === 'waiting');
      return late.length === 0
        ? undefined
        : `${late.length} ${late.length === 1 ? 'watch is' : 'watches are'} not up to date`;
    },
  };
}
