import type { ListPage, WatchEvent } from '../client/client.ts';
import { type KubeObject, keyOf } from '../object.ts';
import type { Reading } from './reading.ts';
import { isNewer } from './resource-version.ts';
import type { Store } from './store.ts';

interface StoreFeedOptions<T extends KubeObject> {
  readonly store: Store<T>;
  /** Name in messages. */
  readonly name: string;
  readonly onError: (error: unknown) => void;
}

/** Applies lists and watch events to a store. */
interface StoreFeed<T extends KubeObject> {
  /** Replaces the store's objects by a list, and returns the list's version. */
  takeList(pages: AsyncIterable<ListPage<Reading<T>>>): Promise<string>;
  /** Applies one event to the store and returns the reached version; older events are ignored. */
  take(event: WatchEvent<Reading<T>>, reached: string): string;
  /** Reports a throwing listener or index without stopping the reflector. */
  guarded(change: () => void): void;
}

export function createStoreFeed<T extends KubeObject>(options: StoreFeedOptions<T>): StoreFeed<T> {
  const { store, name, onError } = options;

  async function takeList(pages: AsyncIterable<ListPage<Reading<T>>>): Promise<string> {
    const listing = store.startList();
    let resourceVersion = '';
    for await (const page of pages) {
      ({ resourceVersion } = page);
      for (const reading of page.items) {
        const object = readable(reading);
        if (object) guarded(() => listing.add(object, resourceVersion));
        else listing.keep(keyOf(reading));
      }
    }
    guarded(() => listing.end(resourceVersion));
    return resourceVersion;
  }

  function take(event: WatchEvent<Reading<T>>, reached: string): string {
    const version = versionOf(event) ?? reached;
    if (!isNewer(version, reached)) return reached;
    if (event.type === 'BOOKMARK') return version;
    const { object: reading, type } = event;
    if (type === 'DELETED') guarded(() => store.remove(reading));
    else {
      const object = readable(reading);
      if (object) guarded(() => store.upsert(object));
    }
    return version;
  }

  /**
   * Returns the object unless known or unreadable. The stored object then stays: unreadable does not mean deleted.
   * But an unreadable object with another uid means the stored object was deleted.
   */
  function readable(reading: Reading<T>): T | undefined {
    if ('object' in reading) return reading.object;
    if (reading.known) return undefined;
    const key = keyOf(reading);
    onError(new Error(`reading ${name} ${key}`, { cause: reading.unreadable }));
    const before = store.get(key);
    if (before && before.metadata.uid !== reading.metadata.uid)
      guarded(() => store.remove(reading));
    return undefined;
  }

  function guarded(change: () => void): void {
    try {
      change();
    } catch (error) {
      onError(error);
    }
  }

  return { takeList, take, guarded };
}

function versionOf(event: WatchEvent<KubeObject>): string | undefined {
  return event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;
}
