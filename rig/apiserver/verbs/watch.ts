import type { Cluster } from '../cluster.ts';
import type { JsonObject } from '../objects/json.ts';
import { type KubeObject, withMeta } from '../objects/object.ts';
import { apiVersionOf, atVersion, resourceOf } from '../resources/resource-type.ts';
import { crdResource } from '../resources/type-registry.ts';
import type { Selector } from '../storage/selectors.ts';
import type { Change } from '../storage/storage.ts';
import { type Selection, selectorOf, tooOld } from './list.ts';

export interface WatchRequest extends Selection {
  readonly resourceVersion: number;
  readonly bookmarks: boolean;
  readonly timeoutSeconds: number;
}

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: JsonObject;
}

/**
 * Sends events to one watcher until its time is over, the signal aborts, or the kind is no longer served. Starts with
 * all objects when no resource version is given.
 */
export async function watch(
  cluster: Cluster,
  request: WatchRequest,
  send: (event: WatchEvent) => void,
  bookmarkMs: number,
  signal: AbortSignal,
): Promise<void> {
  const selects = selectorOf(request);
  const ended = new AbortController();
  const relay = (change: Change): void => {
    if (endsWatch(change, request)) ended.abort(new Error('the kind is no longer served'));
    const event = eventOf(change, request, selects);
    if (event) send(event);
  };
  if (!replay(cluster, request, selects, send, relay)) return;
  const unsubscribe = cluster.storage.subscribe(relay);
  try {
    await bookmarks(cluster, request, send, bookmarkMs, AbortSignal.any([signal, ended.signal]));
  } finally {
    unsubscribe();
  }
}

/** Brings the watcher to the present; false when its past is no longer known. */
function replay(
  cluster: Cluster,
  request: WatchRequest,
  selects: Selector,
  send: (event: WatchEvent) => void,
  relay: (change: Change) => void,
): boolean {
  const { type } = request;
  const from = request.resourceVersion;
  if (from === 0) {
    const objects = cluster.storage.list(resourceOf(type)).filter(selects);
    for (const object of objects) send({ type: 'ADDED', object: atVersion(object, type) });
    return true;
  }
  const missed = cluster.storage.since(from);
  if (!missed) {
    send({ type: 'ERROR', object: tooOld(from, cluster).body() });
    return false;
  }
  for (const change of missed) relay(change);
  return true;
}

async function bookmarks(
  cluster: Cluster,
  { type, timeoutSeconds, ...request }: WatchRequest,
  send: (event: WatchEvent) => void,
  everyMs: number,
  signal: AbortSignal,
): Promise<void> {
  const { clock, storage } = cluster;
  const end = clock.monotonicMs() + timeoutSeconds * 1000;
  for (let left = timeoutSeconds * 1000; left > 0; left = end - clock.monotonicMs()) {
    await clock.sleep(Math.min(everyMs, left), signal).catch(() => undefined);
    if (signal.aborted) return;
    if (!request.bookmarks) continue;
    const metadata = { resourceVersion: String(storage.revision), creationTimestamp: null };
    const object = { kind: type.kind, apiVersion: apiVersionOf(type), metadata };
    send({ type: 'BOOKMARK', object });
  }
}

/** What a change looks like through the selector: an object that leaves it counts as deleted, one that enters as added. */
function eventOf(
  change: Change,
  { type }: WatchRequest,
  selects: Selector,
): WatchEvent | undefined {
  if (change.resource !== resourceOf(type)) return undefined;
  const { object, previous } = change;
  const was = previous !== undefined && selects(previous);
  const is = change.type !== 'DELETED' && selects(object);
  if (!was && !is) return undefined;
  const seen = (event: WatchEvent['type'], state: KubeObject): WatchEvent => ({
    type: event,
    object: atVersion(state, type),
  });
  if (is) return seen(was ? 'MODIFIED' : 'ADDED', object);
  const { resourceVersion } = object.metadata;
  return seen('DELETED', withMeta(previous ?? object, { resourceVersion }));
}

function endsWatch(change: Change, { type }: WatchRequest): boolean {
  const gone = change.resource === crdResource && change.type === 'DELETED';
  return gone && change.key === resourceOf(type);
}
