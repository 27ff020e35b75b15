import type { KubeClient, ListOptions } from '../client/client.ts';
import { KubeError } from '../errors.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import { isOlder } from './resource-version.ts';

export const restored = new KubeError({
  status: 410,
  reason: 'Expired',
  message: 'the API server was restored from a backup: its resourceVersion went back',
});

/**
 * Returns true if the server lost changes already observed, as after a restore. A server accepts a watch from a
 * future version and stays silent until reaching it (kubernetes/kubernetes#107457); a list without a version is
 * never stale (read from etcd). `from`: last observed version.
 */
export async function isRestored<T extends KubeObject>(
  client: Pick<KubeClient, 'list'>,
  resource: Resource<T>,
  selection: Omit<ListOptions, 'limit'>,
  from: string,
): Promise<boolean> {
  const { resourceVersion } = await client.list(resource, { ...selection, limit: 1 });
  return isOlder(resourceVersion, from);
}
