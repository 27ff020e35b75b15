import * as z from 'zod';
import type { KubeClient } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/object.ts';
import { defineResource } from '../../kube/resource.ts';

type ServiceCidr = KubeObject & { readonly spec?: unknown };

/** Kubernetes 1.33 serves `v1`, 1.31 and 1.32 serve `v1beta1` if enabled, and older versions do not have the kind. */
const versions = ['v1', 'v1beta1'].map((version) =>
  defineResource<ServiceCidr>({
    group: 'networking.k8s.io',
    version,
    plural: 'servicecidrs',
    kind: 'ServiceCIDR',
    namespaced: false,
  }),
);

const spec = z.object({ cidrs: z.array(z.string()) });

/** Returns the networks in all ServiceCIDR objects, also during deletion: Services may still use the network. */
export async function serviceCidrsOf(
  client: Pick<KubeClient, 'listAll'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  for (const resource of versions) {
    try {
      const { items } = await client.listAll(resource, { signal });
      return items.flatMap((item) => spec.safeParse(item.spec).data?.cidrs ?? []);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return [];
}
