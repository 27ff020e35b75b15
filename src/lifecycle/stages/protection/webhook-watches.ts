import type { metricTable } from '../../../api/metrics.ts';
import { managedObjects } from '../../../api/names.ts';
import { createReflector, type Reflector } from '../../../kube/cache/reflector.ts';
import { Store } from '../../../kube/cache/store.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { type Secret, secrets } from '../../../kube/core-resources.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Resource } from '../../../kube/resource.ts';
import { countSteps } from '../../../kube-metrics.ts';
import type { PartContext } from '../../../process/part.ts';
import { multiNicOperators, type OperatorObject } from '../../model/multinicoperator.ts';

interface WebhookWatchesOptions {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly context: Pick<PartContext<typeof metricTable>, 'clock' | 'random' | 'log' | 'metrics'>;
  readonly namespace: string;
}

/** Creates the watches of the webhook, which also run in replicas without the lease. */
export function createWebhookWatches({ client, context, namespace }: WebhookWatchesOptions) {
  const { clock, random, log, metrics } = context;
  const operators = new Store<OperatorObject>();
  const certificateSecrets = new Store<Secret>();

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

  return {
    operators,
    certificateSecrets,
    operatorWatch: mirror(multiNicOperators, operators, { name: 'ProtectedOperator' }),
    certificateWatch: mirror(secrets, certificateSecrets, {
      name: 'WebhookCertificate',
      namespace,
      fieldSelector: `metadata.name=${managedObjects.webhookCertificate}`,
    }),
  };
}
