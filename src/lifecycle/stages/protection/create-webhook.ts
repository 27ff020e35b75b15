import type { Effect } from '../../../api/effects.ts';
import type { metricTable } from '../../../api/metrics.ts';
import { aroundWrites } from '../../../kube/client/around-writes.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { createEventRecorder } from '../../../kube/events.ts';
import { together } from '../../../kube/reconcile/together.ts';
import type { Perform } from '../../../process/effects.ts';
import type { PartContext } from '../../../process/part.ts';
import type { Accepted } from '../../model/accepted.ts';
import type { OperatorObject } from '../../model/multinicoperator.ts';
import type { LifecycleSettings } from '../../settings.ts';
import { accept as acceptSpec } from '../accept/accept.ts';
import { oldestIn } from '../accept/one-per-cluster.ts';
import type { AdmissionRequest } from './admission-review.ts';
import { createWebhookCertificates } from './certificates.ts';
import { type ProtectionRules, refusalOf } from './decision.ts';
import { afterDraining } from './draining.ts';
import { userOf } from './exempt.ts';
import { createRefusalReport } from './refusal-report.ts';
import { createRefusals } from './refusals.ts';
import type { Webhook } from './webhook.ts';
import { webhookNames } from './webhook-secrets.ts';
import { createWebhookService } from './webhook-service.ts';
import { createWebhookWatches } from './webhook-watches.ts';

export interface WebhookOptions {
  readonly client: KubeClient;
  readonly settings: Pick<
    LifecycleSettings,
    'namespace' | 'serviceAccount' | 'webhookListen' | 'webhookUrl'
  >;
  readonly context: PartContext<typeof metricTable>;
  readonly perform: Perform<Effect>;
  readonly accept?: (operator: OperatorObject, now: Date) => Pick<Accepted, 'protection'>;
  /** Milliseconds to keep answering after the stop signal; default 5 s. */
  readonly drainMs?: number;
}

/** Creates the webhook of this process; MultiNicOperators and the certificate come from separate watches. */
export function createWebhook(options: WebhookOptions): Webhook {
  const { client, settings, context, perform, accept = acceptSpec, drainMs } = options;
  const { namespace, serviceAccount, webhookListen: address, webhookUrl: url } = settings;
  const { clock, random, log, metrics, health } = context;
  const user = userOf(namespace, serviceAccount);
  const [serverName = ''] = webhookNames(namespace, url);
  const watches = createWebhookWatches({ client, context, namespace });
  const { operators, certificateSecrets } = watches;
  const listeners: (() => void)[] = [];
  const onChange = (): void => {
    for (const listener of listeners) listener();
  };
  const refusals = createRefusals({ client, perform, clock, log });
  const recorder = createEventRecorder({
    client: aroundWrites(client, (write) => perform('lifecycle.event.write', write)),
    component: 'multinic-lifecycle',
    clock,
    random,
    onError: (error) => log.warn({ err: error }, 'event not written'),
  });
  const report = createRefusalReport({ recorder, refusals, metrics, log, namespace });
  const certificates = createWebhookCertificates({
    client,
    context,
    perform,
    namespace,
    url,
    onChange,
  });
  const service = createWebhookService({
    certificateSecrets,
    address,
    serverName,
    authorities: () => certificates.authorities,
    decide,
    clock,
    log,
    onChange,
  });

  function rules(): ProtectionRules {
    const found = oldestIn(operators.list(), namespace);
    const wanted = found && accept(found, clock.now()).protection.value;
    // Before the first list everything is protected: the API server calls only because a MultiNicOperator exists.
    const none = watches.operatorWatch.silentMs === undefined ? '' : undefined;
    return { namespace, user, operator: found?.metadata.name ?? none, wanted };
  }

  function decide(request: AdmissionRequest): string | undefined {
    const refusal = refusalOf(request, rules(), clock.now());
    if (refusal !== undefined && !request.dryRun) {
      report(request, oldestIn(operators.list(), namespace));
    }
    return refusal;
  }

  const isWanted = (): boolean => rules().wanted?.preventsMutations ?? false;
  const isCalled = (): boolean => service.isServing && isWanted();

  health.ready('webhook', () =>
    isWanted() && !service.isServing
      ? 'the admission webhook has no certificate yet; the leading replica issues one'
      : undefined,
  );
  certificateSecrets.subscribe(() => certificates.wake());

  return {
    get access() {
      const { authorities, trouble } = certificates;
      return { authorities, user, url, trouble };
    },
    get answers() {
      return service.answers;
    },
    onChange(listener) {
      listeners.push(listener);
    },
    keepCertificates: async (leading) => certificates.run(leading),
    serve: async (signal) =>
      recorder.during(signal, () =>
        together(afterDraining(signal, { clock, isCalled, drainMs }), clock, {
          operators: (end) => watches.operatorWatch.run(end),
          certificate: (end) => watches.certificateWatch.run(end),
          refusals: (end) => refusals.run(end),
          requests: (end) => service.run(end),
        }),
      ),
  };
}
