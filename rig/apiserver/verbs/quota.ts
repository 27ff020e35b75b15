import type { Cluster } from '../cluster.ts';
import { forbidden } from '../objects/status-error.ts';
import { type ResourceType, resourceOf } from '../resources/resource-type.ts';

const quotas = { group: '', plural: 'resourcequotas', kind: 'ResourceQuota' };

/** Refuses an object that exceeds an object count quota (`count/jobs.batch`) of its namespace. */
export function refuseOverQuota(
  cluster: Cluster,
  type: ResourceType,
  namespace: string,
  name: string,
): void {
  const resource = resourceOf(type);
  const count = `count/${resource}`;
  for (const quota of cluster.storage.list(resourceOf(quotas), namespace)) {
    const { hard = {} } = (quota['spec'] ?? {}) as { hard?: Record<string, string> };
    const limit = hard[count];
    const used = limit === undefined ? 0 : cluster.storage.list(resource, namespace).length;
    if (limit === undefined || used < Number(limit)) continue;
    const usage = `requested: ${count}=1, used: ${count}=${used}, limited: ${count}=${limit}`;
    throw forbidden(type, name, `exceeded quota: ${quota.metadata.name}, ${usage}`);
  }
}
