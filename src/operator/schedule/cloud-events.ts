import type { Happening } from '../../openstack/notifications/envelope.ts';
import type { ConfigMemories } from '../memory/config-memory.ts';
import type { CloudViews } from '../observe/cloud-view.ts';

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
    const pending = memories.find(key)?.pendingScope;
    if (pending === undefined) return false;
    const isDue = pending.noteServers(servers);
    const isWhole =
      event.whole ||
      views.knows(key, event.networks) ||
      views.chooses(key, event.projects) ||
      views.readsAs(key, event.accounts);
    return isWhole ? pending.noteAll() : isDue;
  });
}
