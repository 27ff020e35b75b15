import { managedObjects } from '../../../api/names.ts';
import { Store } from '../../../kube/cache/store.ts';
import { type Secret, secrets } from '../../../kube/core-resources.ts';
import { createWatch, type WatchContext } from '../../../runtime/watch.ts';
import { multiNicOperators, type OperatorObject } from '../../model/multinicoperator.ts';

interface WebhookWatchesOptions extends WatchContext {
  readonly namespace: string;
}

/** Creates the watches of the webhook, which also run in replicas without the lease. */
export function createWebhookWatches({ namespace, ...context }: WebhookWatchesOptions) {
  const operators = new Store<OperatorObject>();
  const certificateSecrets = new Store<Secret>();
  return {
    operators,
    certificateSecrets,
    operatorWatch: createWatch(
      { resource: multiNicOperators, store: operators, name: 'ProtectedOperator' },
      context,
    ),
    certificateWatch: createWatch(
      {
        resource: secrets,
        store: certificateSecrets,
        name: 'WebhookCertificate',
        namespace,
        fieldSelector: `metadata.name=${managedObjects.webhookCertificate}`,
      },
      context,
    ),
  };
}
