import type { Effect } from '../../../api/effects.ts';
import { fieldManagers, labels, managedObjects } from '../../../api/names.ts';
import { serviceNames } from '../../../certificates/certificate-keeper.ts';
import {
  createOwnedSecrets,
  type OwnedSecret,
  type OwnedSecrets,
  type SecretsDeps,
} from '../../../certificates/owned-secret.ts';

/** Secrets with the webhook's CA and certificate. */
export const webhookSecrets = {
  authority: {
    name: managedObjects.webhookAuthority,
    type: 'Opaque',
    effect: 'lifecycle.authority.write',
  },
  certificate: {
    name: managedObjects.webhookCertificate,
    type: 'kubernetes.io/tls',
    effect: 'lifecycle.certificate.write',
  },
} as const satisfies Readonly<Record<string, OwnedSecret<Effect>>>;

export function createWebhookSecrets(
  deps: Omit<SecretsDeps<Effect>, 'keeper'>,
): OwnedSecrets<Effect> {
  return createOwnedSecrets({
    ...deps,
    keeper: {
      fieldManager: fieldManagers.lifecycle,
      called: 'lifecycle',
      labels: {
        [labels.appName]: 'multinic-operator',
        [labels.component]: 'webhook',
        [labels.partOf]: 'multinic',
      },
    },
  });
}

/** Returns the names under which the API server calls the webhook, and the webhook calls itself. */
export function webhookNames(namespace: string, url: string | undefined): readonly string[] {
  const names = [
    ...serviceNames(managedObjects.webhookService, namespace),
    'localhost',
    '127.0.0.1',
  ];
  // IPv6 addresses have brackets in a URL, but not in a certificate.
  return url === undefined ? names : [...names, new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')];
}
