import { isNewer } from '../../../kube/cache/resource-version.ts';
import type { ConfigObject } from '../openstack-config.ts';
import type { ConfigContext, ConfigMemory } from './config-memory.ts';
import { Slot } from './slot.ts';

interface StatusWrite {
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly status: unknown;
}

/** This process's last status write: the watch may not have returned the status yet. */
export const lastStatusWrite = new Slot<ConfigMemory, StatusWrite | undefined>(() => undefined);

/** Returns the object with this process's last status write, unless the watch has returned a newer object. */
export function latestObject({ object, memory }: ConfigContext): ConfigObject {
  const last = lastStatusWrite.of(memory);
  if (last === undefined || last.uid !== object.metadata.uid) return object;
  const isAhead = isNewer(last.resourceVersion, object.metadata.resourceVersion);
  return isAhead ? { ...object, status: last.status } : object;
}
