import type { Cluster } from '../cluster.ts';
import { StatusError } from '../objects/status-error.ts';
import type { Change } from '../storage/storage.ts';

/** A controller of the cluster itself: looks at one key, does what is due. */
export interface ClusterController {
  /** The keys that a change concerns. */
  keys(change: Change): readonly string[];
  /** Brings one key closer to what it should be; answers the milliseconds after which to look again, if any. */
  reconcile(key: string): number | undefined;
}

/**
 * Runs a controller on the changes of the storage until the signal aborts. It works after the request that caused
 * the change was answered, as a controller in another process would.
 */
export function runController(
  cluster: Cluster,
  controller: ClusterController,
  signal: AbortSignal,
): void {
  const due = new Set<string>();
  const alarms = new Map<string, AbortController>();
  let scheduled = false;

  const enqueue = (key: string): void => {
    due.add(key);
    if (scheduled) return;
    scheduled = true;
    setImmediate(drain);
  };
  const later = async (key: string, ms: number): Promise<void> => {
    const replaced = new AbortController();
    alarms.set(key, replaced);
    const ended = AbortSignal.any([signal, replaced.signal]);
    await cluster.clock.sleep(ms, ended).catch(() => undefined);
    if (!ended.aborted) enqueue(key);
  };
  const drain = (): void => {
    scheduled = false;
    const keys = [...due];
    due.clear();
    for (const key of signal.aborted ? [] : keys) {
      alarms.get(key)?.abort(new Error('looked at again'));
      alarms.delete(key);
      const againAfterMs = attempt(controller, key);
      if (againAfterMs !== undefined) void later(key, againAfterMs);
    }
  };

  const unsubscribe = cluster.storage.subscribe((change) => {
    for (const key of controller.keys(change)) enqueue(key);
  });
  signal.addEventListener('abort', unsubscribe, { once: true });
}

/** What the server itself refuses (a namespace that is going away) is tried again after a second. */
function attempt(controller: ClusterController, key: string): number | undefined {
  try {
    return controller.reconcile(key);
  } catch (error) {
    if (error instanceof StatusError) return 1000;
    throw error;
  }
}
