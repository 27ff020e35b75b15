import * as z from 'zod';
import type { Store as ObjectStore } from '../../kube/cache/store.ts';
import { type ObjectRef, refOf } from '../../kube/object.ts';
import type { LaneLimit } from '../../kube/reconcile/lanes.ts';
import type { ConfigObject } from '../openstack-config.ts';

/** A sync that takes longer waits for a cloud or a business cluster; most take some hundred milliseconds. */
export const slowSyncMs = 2_000;
/** OpenstackConfigs that are synced at once, beside those that wait for a slow answer. */
export const workers = 8;
/** More at once would only make one cloud slower, and leave less for the others. */
const perLane = 4;

const waitsFor = z.object({
  credentials: z.object({
    openstackProviderID: z.string().trim().catch(''),
    k8sProviderID: z.string().trim().optional().catch(undefined),
    authURL: z.string().trim().catch(''),
    secretRef: z
      .object({ name: z.string() })
      .transform(({ name }) => name)
      .catch(''),
  }),
  settings: z
    .object({ contrabassEndpoint: z.string().catch(''), violaEndpoint: z.string().catch('') })
    .partial()
    .optional()
    .catch(undefined),
});

/** What OpenstackConfigs wait for together: their cloud and their business cluster. */
export function lanesOf(configs: Pick<ObjectStore<ConfigObject>, 'get'>): LaneLimit {
  return {
    most: perLane,
    quick: { more: perLane, withinMs: slowSyncMs },
    of: (key) => {
      const spec = waitsFor.safeParse(configs.get(key)?.spec).data;
      if (!spec) return [];
      const { openstackProviderID, k8sProviderID } = spec.credentials;
      const { violaEndpoint = '' } = spec.settings ?? {};
      const cluster = k8sProviderID || openstackProviderID;
      return [`cloud ${cloudOf(spec, refOf(key))}`, `cluster ${violaEndpoint} ${cluster}`];
    },
  };
}

/** Which cloud a Secret leads to is not known here: who shares it waits for the same one. */
function cloudOf(
  { credentials, settings }: z.infer<typeof waitsFor>,
  { namespace = '' }: ObjectRef,
): string {
  const { openstackProviderID, authURL, secretRef } = credentials;
  const { contrabassEndpoint = '' } = settings ?? {};
  if (openstackProviderID !== '') return `${contrabassEndpoint} ${openstackProviderID}`;
  return authURL || `${namespace}/${secretRef}`;
}
