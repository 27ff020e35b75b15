import type { Happening } from '../../../openstack/notifications/envelope.ts';
import type { CloudViews } from '../../cloud/observe/cloud-view.ts';
import type { ConfigMemories } from '../../model/memory/config-memory.ts';
import { pendingScope } from './sync-scope.ts';

/** A notification about a change in a cloud; syncs then read the change from the cloud. */
export type CloudEvent = Happening;

/** Records a cloud event for these OpenstackConfigs (`namespace/name`). Returns the configs to sync now. */
export function noteCloudEvent(
  members: Iterable<string>,
  event: CloudEvent,
  { memories, views }: { readonly memories: ConfigMemories; readonly views: CloudViews },
): string[] {
  return [...members].filter((key) => {
    const servers = views.concerned(key, event);
    const memory = memories.find(key);
    if (memory === undefined) return false;
    const pending = pendingScope.of(memory);
    const isDue = pending.noteServers(servers);
    const isWhole =
      event.whole ||
      views.knows(key, event.networks) ||
      views.chooses(key, event.projects) ||
      views.readsAs(key, event.accounts);
    return isWhole ? pending.noteAll() : isDue;
  });
}
