import { labels, namespaces as names } from '../../src/api/names.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { secrets } from '../../src/kube/core-resources.ts';
import { createAll } from './manifests.ts';

/** Manifests in `deploy/rbac` of an installation, by cluster. */
export const rights = {
  management: ['management', 'viola', 'operator'],
  business: ['namespaces', 'viola-business', 'controller'],
} as const;

/** What an installation has in its management cluster before any part runs: namespaces, and rights for operator and Viola. */
export async function prepareManagement(cluster: KubeClient): Promise<void> {
  await createAll(cluster, ...rights.management);
}

/** The same of a business cluster: rights for the controller, and for Viola where it writes. */
export async function prepareBusiness(cluster: KubeClient): Promise<void> {
  await createAll(cluster, ...rights.business);
}

/** Registers a business cluster with Viola, which takes notice at once. */
export async function registerCluster(
  management: KubeClient,
  provider: string,
  kubeconfig: string,
): Promise<void> {
  await management.create(secrets, {
    metadata: {
      name: provider,
      namespace: names.registrations,
      labels: { [labels.providerId]: provider },
    },
    data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') },
  });
}
