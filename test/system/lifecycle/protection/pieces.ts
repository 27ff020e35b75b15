import * as z from 'zod';
import type { Effect } from '../../../../src/api/effects.ts';
import { metricTable } from '../../../../src/api/metrics.ts';
import { annotations } from '../../../../src/api/names.ts';
import type { ClusterAccess } from '../../../../src/kube/access/access.ts';
import type { StoreView } from '../../../../src/kube/cache/store.ts';
import { createKubeClient } from '../../../../src/kube/client/http-client.ts';
import { createEventRecorder } from '../../../../src/kube/events.ts';
import type { KubeObject } from '../../../../src/kube/object.ts';
import { createController, sourceOf } from '../../../../src/kube/reconcile/controller.ts';
import { together } from '../../../../src/kube/reconcile/together.ts';
import type { Accepted, Checked } from '../../../../src/lifecycle/accept/accepted.ts';
import { createDeletion } from '../../../../src/lifecycle/deletion/deletion.ts';
import type { OperatorObject } from '../../../../src/lifecycle/multinicoperator.ts';
import { Applier } from '../../../../src/lifecycle/objects/applier.ts';
import { createCarryOut } from '../../../../src/lifecycle/objects/carry-out.ts';
import type { Desired } from '../../../../src/lifecycle/objects/desired.ts';
import { createObserve } from '../../../../src/lifecycle/objects/observe.ts';
import { createStores } from '../../../../src/lifecycle/objects/stores.ts';
import type { Outcome } from '../../../../src/lifecycle/outcome.ts';
import { BreakGlassAnnouncer } from '../../../../src/lifecycle/protection/break-glass.ts';
import { createWebhook } from '../../../../src/lifecycle/protection/create-webhook.ts';
import { protection } from '../../../../src/lifecycle/protection/protection.ts';
import type { Observed } from '../../../../src/lifecycle/stage.ts';
import { unchanged } from '../../../../src/lifecycle/stage.ts';
import { createWatches } from '../../../../src/lifecycle/watches.ts';
import { createPerform } from '../../../../src/process/effects.ts';
import { createHealth } from '../../../../src/process/health.ts';
import { createLogger } from '../../../../src/process/log.ts';
import { createMetrics } from '../../../../src/process/metrics.ts';
import { type Clock, systemClock, systemRandom } from '../../../../src/time/clock.ts';

export interface PiecesOptions {
  readonly access: ClusterAccess;
  readonly namespace: string;
  readonly webhook: { readonly host: string; readonly port: number };
  readonly managed: (observed: Observed) => readonly Desired[];
  readonly kubernetesMinor: number;
  readonly clock?: Clock;
}

const protectionFields = z.object({
  enableMutationPrevention: z.boolean().default(false),
  enableAutoRecovery: z.boolean().default(true),
  allowedOperations: z.array(z.string()).default([]),
});
const spec = z.object({ protection: protectionFields.prefault({}) });

const none: Checked<never> = { problems: [{ field: 'spec', message: 'not part of this test' }] };

/** Accepts spec.protection and the break-glass annotation, as far as these tests use them. */
export function acceptProtection({ spec: raw, metadata }: OperatorObject, now: Date): Accepted {
  const fields = spec.parse(raw ?? {}).protection;
  const until = metadata.annotations?.[annotations.breakGlass];
  const wanted = {
    preventsMutations: fields.enableMutationPrevention,
    recovers: fields.enableAutoRecovery,
    allowed: new Set(
      fields.allowedOperations.filter((one) => ['update', 'delete', 'scale'].includes(one)),
    ) as ReadonlySet<'update' | 'delete' | 'scale'>,
    ...(until === undefined ? {} : { breakGlassUntil: new Date(until) }),
  };
  const isOver = until !== undefined && new Date(until) <= now;
  const over = { field: `metadata.annotations[${annotations.breakGlass}]`, message: 'is over' };
  return {
    credentials: none,
    database: none,
    backup: none,
    controller: none,
    triggers: none,
    protection: isOver ? { problems: [over] } : { value: wanted },
  };
}

/** One replica of lifecycle, leading, with the stage of protection and a fixed set of managed objects. */
export function startPieces(options: PiecesOptions) {
  const { access, namespace, webhook: address, managed, kubernetesMinor } = options;
  const { clock = systemClock } = options;
  const lines: string[] = [];
  const metrics = createMetrics(metricTable);
  const log = createLogger({
    part: 'lifecycle',
    level: 'info',
    destination: { write: (line: string) => void lines.push(line) },
  });
  const version = { version: '0', commit: '0', node: '0' } as never;
  const context = {
    clock,
    random: systemRandom,
    log,
    metrics,
    health: createHealth(),
    about: { version, settings: {} as never },
    exit: (why: Error) => void lines.push(String(why)),
  };
  const client = createKubeClient(access, { clock, userAgent: 'multinic-lifecycle' });
  const effects: string[] = [];
  const perform = createPerform<Effect>(
    (effect, phase) => void (phase === 'after' && effects.push(effect)),
  );
  const settings = {
    namespace,
    serviceAccount: 'multinic-operator',
    webhookListen: address,
    webhookUrl: `https://${address.host}:${address.port}`,
  };
  const webhook = createWebhook({ client, settings, context, perform, accept: acceptProtection });
  const stores = createStores(namespace);
  const recorder = createEventRecorder({ client, component: 'multinic-lifecycle', clock });
  const applier = new Applier({ client, perform, live: stores.live, clock });
  const carryOut = createCarryOut({ applier, recorder, metrics, log });
  const deletion = createDeletion({ client, applier, stores, namespace, perform });
  const breakGlass = new BreakGlassAnnouncer({ recorder, metrics });
  const observe = createObserve({ client, stores, namespace, kubernetesMinor, clock });
  const outcomes: { managed?: Outcome; protection?: Outcome } = {};
  const { live: _, operators, ...watched } = stores;
  const all = (): readonly string[] => operators.keys();
  const controller = createController({
    name: 'multinicoperator',
    workers: 1,
    reflectors: createWatches({ client, context, namespace, stores }),
    clock,
    random: systemRandom,
    sources: [
      sourceOf(operators),
      ...Object.values(watched).map((store) => sourceOf(store as StoreView<KubeObject>, all)),
    ],
    onResult: ({ error }) => void (error instanceof Error && lines.push(error.message)),
    reconcile: async (key, signal) => {
      const seen = await observe(key, acceptProtection, signal);
      if (seen.what === 'leaving') return deletion.finish(seen.operator, signal);
      if (seen.what !== 'wanted') return {};
      const { observed } = seen;
      await deletion.hold(observed.operator, signal);
      breakGlass.note(observed);
      const plan = { ...unchanged([], undefined), apply: managed(observed) };
      outcomes.managed = await carryOut(observed, plan, signal);
      const guard = protection(observed, webhook.access);
      outcomes.protection = await carryOut(observed, guard, signal);
      const waits = [outcomes.managed.requeueAfterMs, guard.requeueAfterMs].filter(
        (ms) => ms !== undefined,
      );
      return waits.length === 0 ? {} : { requeueAfterMs: Math.min(...waits) };
    },
  });
  webhook.onChange(() => {
    for (const key of all()) controller.enqueue(key);
  });
  const stopping = new AbortController();
  const running = recorder
    .during(stopping.signal, () =>
      together(stopping.signal, clock, {
        webhook: (end) => webhook.serve(end),
        certificates: (end) => webhook.keepCertificates(end),
        objects: (end) => controller.run(end),
      }),
    )
    .catch((error: unknown) => void lines.push(String(error)));
  return {
    webhook,
    outcomes,
    lines,
    effects,
    metrics,
    client,
    async stop(): Promise<void> {
      stopping.abort(new Error('stopped by the test'));
      await running;
      await client[Symbol.asyncDispose]();
    },
  };
}
