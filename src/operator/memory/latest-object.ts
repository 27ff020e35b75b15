import { isNewer } from '../../kube/cache/resource-version.ts';
import type { ConfigObject } from '../openstack-config.ts';
import type { ConfigContext } from './config-memory.ts';

/** Returns the object with this process's last status write, unless the watch has returned a newer object. */
export function latestObject({ object, memory }: ConfigContext): ConfigObject {
  const { lastStatusWrite: last } = memory;
  if (last === undefined || last.uid !== object.metadata.uid) return object;
  const isAhead = isNewer(last.resourceVersion, object.metadata.resourceVersion);
  return isAhead ? { ...object, status: last.status } : object;
}
