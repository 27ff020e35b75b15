import { annotations } from '../../../api/names.ts';
import type { Reflector } from '../../../kube/cache/reflector.ts';
import type { Change, Store as ObjectStore } from '../../../kube/cache/store.ts';
import { keyOf } from '../../../kube/object.ts';
import { createWatch, type WatchContext } from '../../../runtime/watch.ts';
import {
  type ConfigObject,
  needsReconcile,
  openstackConfigs,
} from '../../model/openstack-config.ts';
import { possibleSuccessors } from '../deletion/successors.ts';

interface ConfigWatchOptions extends WatchContext {
  readonly configs: ObjectStore<ConfigObject>;
  readonly watchNamespace: string | undefined;
}

/** Watches OpenstackConfigs in `watchNamespace`; undefined: in all namespaces. */
export function watchConfigs({
  configs,
  watchNamespace,
  ...context
}: ConfigWatchOptions): Reflector {
  return createWatch(
    {
      resource: openstackConfigs,
      ...(watchNamespace === undefined ? {} : { namespace: watchNamespace }),
      store: configs,
      transform: slim,
    },
    context,
  );
}

/**
 * Returns the OpenstackConfigs to sync. The operator's own status writes return no key, because a change must cost a
 * single sync. A deletion also syncs possible successors.
 */
export function keysToSync(
  change: Change<ConfigObject>,
  deps: Parameters<typeof possibleSuccessors>[1],
): string[] {
  if (change.type !== 'updated') return [change.key];
  const { key, previous, object } = change;
  if (isDeleted(object) && !isDeleted(previous)) {
    return [...possibleSuccessors(object, deps).map(keyOf), key];
  }
  return needsReconcile(previous, object) || asksForChecks(previous, object) ? [key] : [];
}

function isDeleted({ metadata }: ConfigObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Returns whether a check-nodes request has changed; such a request needs no sync. */
function asksForChecks(before: ConfigObject, now: ConfigObject): boolean {
  const name = annotations.checkNodes;
  return before.metadata.annotations?.[name] !== now.metadata.annotations?.[name];
}

/** Drops managedFields, which the operator does not read, to save memory. */
function slim(object: ConfigObject): ConfigObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
