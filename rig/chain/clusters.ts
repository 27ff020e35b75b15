import { labels, namespaces as names } from '../../src/api/names.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { namespaces, secrets } from '../../src/kube/core-resources.ts';

/** Makes the namespaces that an installation has, in each of the clusters. */
export async function makeNamespaces(...clusters: readonly KubeClient[]): Promise<void> {
  for (const cluster of clusters) {
    for (const name of Object.values(names)) {
      await cluster.create(namespaces, { metadata: { name } });
    }
  }
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
