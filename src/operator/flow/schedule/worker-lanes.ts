import * as z from 'zod';
import type { Store as ObjectStore } from '../../../kube/cache/store.ts';
import { type ObjectRef, refOf } from '../../../kube/object.ts';
import type { LaneLimit } from '../../../kube/reconcile/lanes.ts';
import type { ConfigObject } from '../../model/openstack-config.ts';

/** A slower sync waits for a cloud or a business cluster; most syncs take a few hundred milliseconds. */
export const slowSyncMs = 2_000;
/** Most OpenstackConfigs synced at once, besides syncs waiting for a slow answer. */
export const workers = 8;
/** Most parallel syncs per lane: more would slow down the cloud and leave fewer workers for other lanes. */
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

/** Limits the workers per cloud and per business cluster. */
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

/**
 * Names a spec's cloud. OpenstackConfigs with a common Secret share a lane: the cloud inside the Secret is
 * unknown here.
 */
function cloudOf(
  { credentials, settings }: z.infer<typeof waitsFor>,
  { namespace = '' }: ObjectRef,
): string {
  const { openstackProviderID, authURL, secretRef } = credentials;
  const { contrabassEndpoint = '' } = settings ?? {};
  if (openstackProviderID !== '') return `${contrabassEndpoint} ${openstackProviderID}`;
  return authURL || `${namespace}/${secretRef}`;
}
