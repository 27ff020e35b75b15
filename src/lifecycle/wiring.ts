import { labels as labelNames } from '../api/names.ts';
import type { Change, StoreView } from '../kube/cache/store.ts';
import { LeaseLostError } from '../kube/lease/lease-lock.ts';
import { type KubeObject, keyOf } from '../kube/object.ts';
import { type Source, sourceOf } from '../kube/reconcile/controller.ts';
import { Controllers, type ControllersOptions } from '../runtime/controllers.ts';
import { withDeadline } from '../time/deadline.ts';
import { createDeletion } from './deletion/deletion.ts';
import { sampleOperators } from './metrics.ts';
import { Applier } from './objects/applier.ts';
import { createCarryOut } from './objects/carry-out.ts';
import { createObserve } from './objects/observe.ts';
import { createStores, type Stores } from './objects/stores.ts';
import { createReconcile } from './reconcile.ts';
import type { LifecycleSettings } from './settings.ts';
import { createBackupMetrics } from './stages/backup/metrics.ts';
import { RestoreAnnouncer } from './stages/backup/restore-announcer.ts';
import { BreakGlassAnnouncer } from './stages/protection/break-glass.ts';
import type { Webhook } from './stages/protection/webhook.ts';
import { isReportOnly } from './status/change.ts';
import { createStatusWriter } from './status/writer.ts';
import { createWatches } from './watches.ts';

/** Name of the controller in metrics. */
const controllerName = 'multinicoperator';
/** Milliseconds at process end for the last namespace check. */
const releaseMs = 10_000;

export interface WiringOptions extends Omit<ControllersOptions, 'part'> {
  readonly settings: LifecycleSettings;
  readonly webhook: Webhook;
  readonly kubernetesMinor: number;
}

/** Wires the stages of a MultiNicOperator to their objects, watches and status. */
export function wireLifecycle({ settings, webhook, kubernetesMinor, ...base }: WiringOptions) {
  const { client, perform, context } = base;
  const { clock, log, metrics } = context;
  const { namespace } = settings;
  const stores = createStores(namespace);
  const controllers = new Controllers({ ...base, part: 'lifecycle' });
  const { recorder } = controllers;
  const applier = new Applier({ client, perform, live: stores.live, clock });
  const deletion = createDeletion({ client, applier, stores, namespace, perform });
  const recordBackups = createBackupMetrics(metrics);
  const restores = new RestoreAnnouncer(recorder);
  const status = createStatusWriter({
    client,
    perform,
    clock,
    webhookAnswers: () => webhook.answers,
  });
  const controller = controllers.define({
    name: controllerName,
    keyField: 'operator',
    workers: 1,
    reconcile: createReconcile({
      observe: createObserve({ client, stores, namespace, kubernetesMinor, clock }),
      applier,
      carryOut: createCarryOut({ applier, recorder, metrics, log }),
      deletion,
      status: {
        ...status,
        write: async (observed, outcomes, signal) => {
          recordBackups(observed, outcomes.backup.plan.report);
          restores.note(observed);
          await status.write(observed, outcomes, signal);
        },
      },
      webhook: () => webhook.access,
      breakGlass: new BreakGlassAnnouncer({ recorder, metrics }),
      clock,
      random: context.random,
    }),
    reflectors: createWatches({ client, context, namespace, stores }),
    sources: sourcesOf(stores, namespace),
    onResult: ({ error }) =>
      metrics.count('multinic_operator_reconcile_total', {
        result: error === undefined ? 'success' : 'error',
      }),
  });
  sampleOperators(metrics, stores);
  webhook.onChange(() => {
    for (const key of stores.operators.keys()) controller.enqueue(key);
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

  const certificates = async (end: AbortSignal) => webhook.keepCertificates(end);
  return {
    controllers,
    lead: async (leading: AbortSignal): Promise<void> => {
      const around = async (run: () => Promise<void>): Promise<void> => {
        await run();
        await releaseAtExit(leading);
      };
      await controllers.run(leading, { around, tasks: { certificates } });
    },
  };
}

/** Any change concerns every MultiNicOperator, because only one exists. */
function sourcesOf(stores: Stores, namespace: string): Source<KubeObject>[] {
  const { operators } = stores;
  const all = (): readonly string[] => operators.keys();
  /** Also enqueues a deleted MultiNicOperator that left its webhook configuration. */
  const withOwner = ({ object }: Change<KubeObject>): readonly string[] => {
    const { [labelNames.managedByOperator]: owner } = object.metadata.labels ?? {};
    return owner === undefined ? all() : [...all(), keyOf({ namespace, name: owner })];
  };
  const watched = Object.entries(stores).filter(([key]) => key !== 'live' && key !== 'operators');
  const sources = watched.map(([key, store]) =>
    sourceOf(store as StoreView<KubeObject>, key === 'webhookConfigurations' ? withOwner : all),
  );
  const own = sourceOf(operators, (change) => (isReportOnly(change) ? [] : [change.key, ...all()]));
  return [own, ...sources];
}
