import type { Effect } from '../../../api/effects.ts';
import type { metricTable } from '../../../api/metrics.ts';
import { managedObjects } from '../../../api/names.ts';
import type { Reason } from '../../../api/reasons.ts';
import { createReflector, type Reflector } from '../../../kube/cache/reflector.ts';
import { Store } from '../../../kube/cache/store.ts';
import { aroundWrites } from '../../../kube/client/around-writes.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { type Secret, secrets } from '../../../kube/core-resources.ts';
import { createEventRecorder } from '../../../kube/events.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { together } from '../../../kube/reconcile/together.ts';
import type { Resource } from '../../../kube/resource.ts';
import { countSteps } from '../../../kube-metrics.ts';
import type { Perform } from '../../../process/effects.ts';
import type { PartContext } from '../../../process/part.ts';
import type { Accepted } from '../../model/accepted.ts';
import { multiNicOperators, type OperatorObject } from '../../model/multinicoperator.ts';
import type { LifecycleSettings } from '../../settings.ts';
import { accept as acceptSpec } from '../accept/accept.ts';
import { oldestIn } from '../accept/one-per-cluster.ts';
import type { AdmissionRequest } from './admission-review.ts';
import { createWebhookCertificates } from './certificates.ts';
import { type ProtectionRules, refusalOf } from './decision.ts';
import { userOf } from './exempt.ts';
import { createRefusals } from './refusals.ts';
import type { Webhook } from './webhook.ts';
import { webhookNames } from './webhook-secrets.ts';
import { createWebhookService } from './webhook-service.ts';

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

/** API servers call a Pod until its endpoint is removed on all nodes, some seconds after SIGTERM. */
const longestDrainMs = 5_000;

/** Creates the webhook of this process; MultiNicOperators and the certificate come from separate watches. */
export function createWebhook(options: WebhookOptions): Webhook {
  const { client, settings, context, perform, accept = acceptSpec } = options;
  const { drainMs = longestDrainMs } = options;
  const { namespace, serviceAccount, webhookListen: address, webhookUrl: url } = settings;
  const { clock, random, log, metrics, health } = context;
  const user = userOf(namespace, serviceAccount);
  const [serverName = ''] = webhookNames(namespace, url);
  const operators = new Store<OperatorObject>();
  const certificateSecrets = new Store<Secret>();
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
  const ofOperators = mirror(multiNicOperators, operators, { name: 'ProtectedOperator' });
  const ofCertificate = mirror(secrets, certificateSecrets, {
    name: 'WebhookCertificate',
    namespace,
    fieldSelector: `metadata.name=${managedObjects.webhookCertificate}`,
  });

  function mirror<T extends KubeObject>(
    resource: Resource<T>,
    store: Store<T>,
    scope: { readonly name: string; readonly namespace?: string; readonly fieldSelector?: string },
  ): Reflector {
    const onError = (error: unknown, retryInMs: number): void =>
      log.warn({ err: error, kind: scope.name, retryInMs }, 'watch interrupted');
    const onStep = countSteps(metrics, scope.name);
    return createReflector({ client, resource, store, clock, random, onError, onStep, ...scope });
  }

  function rules(): ProtectionRules {
    const found = oldestIn(operators.list(), namespace);
    const wanted = found && accept(found, clock.now()).protection.value;
    // Before the first list everything is protected: the API server calls only because a MultiNicOperator exists.
    const none = ofOperators.silentMs === undefined ? '' : undefined;
    return { namespace, user, operator: found?.metadata.name ?? none, wanted };
  }

  function decide(request: AdmissionRequest): string | undefined {
    const refusal = refusalOf(request, rules(), clock.now());
    if (refusal !== undefined && !request.dryRun) noteRefusal(request);
    return refusal;
  }

  function noteRefusal({ operation, resource, subResource, name, userInfo }: AdmissionRequest) {
    const kind = subResource === '' ? resource.resource : `${resource.resource}/${subResource}`;
    const what = { user: userInfo.username, operation, object: `${kind} ${name}` };
    log.warn(what, 'change of a managed object refused');
    metrics.count('multinic_operator_protection_events_total', { event: 'refused' });
    const involved = oldestIn(operators.list(), namespace);
    if (!involved) return;
    refusals.count({ namespace, name: involved.metadata.name });
    const reason = 'MutationPrevented' satisfies Reason;
    const message = `${operation} of ${what.object} by ${what.user} refused`;
    recorder.record(involved, { type: 'Warning', reason, message });
  }

  /** Returns a signal that aborts after the endpoint has drained, or immediately if no API server calls the webhook. */
  function afterDraining(signal: AbortSignal): AbortSignal {
    const drained = new AbortController();
    const drain = async (): Promise<void> => {
      const isCalled = service.isServing && (rules().wanted?.preventsMutations ?? false);
      if (isCalled) await clock.sleep(drainMs);
      drained.abort(signal.reason);
    };
    const onAbort = (): void => void drain();
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    return drained.signal;
  }

  health.ready('webhook', () => {
    const isWanted = rules().wanted?.preventsMutations ?? false;
    return isWanted && !service.isServing
      ? 'the admission webhook has no certificate yet; the leading replica issues one'
      : undefined;
  });
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
        together(afterDraining(signal), clock, {
          operators: (end) => ofOperators.run(end),
          certificate: (end) => ofCertificate.run(end),
          refusals: (end) => refusals.run(end),
          requests: (end) => service.run(end),
        }),
      ),
  };
}
