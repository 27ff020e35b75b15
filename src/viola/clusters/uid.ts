import { identityNamespace } from '../../api/names.ts';
import { namespaces } from '../../kube/core-resources.ts';
import type { Clock } from '../../time/clock.ts';
import { withDeadline } from '../../time/deadline.ts';
import type { Cluster } from './clusters.ts';

interface ReadOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Time limit in ms. */
  readonly withinMs: number;
}

/** By registration: an edited Secret is a new Cluster. */
const uids = new WeakMap<Cluster, string>();

/**
 * Returns the uid of the Namespace kube-system, read once per registration; undefined: no right, or no answer in
 * time.
 */
export async function uidOf(cluster: Cluster, options: ReadOptions): Promise<string | undefined> {
  const uid = uids.get(cluster) ?? (await read(cluster, options));
  if (uid !== undefined) uids.set(cluster, uid);
  return uid;
}

async function read({ client }: Cluster, { clock, signal, withinMs }: ReadOptions) {
  try {
    const found = await withDeadline({ clock, ms: withinMs, signal }, (limited) =>
      client.find(namespaces, { name: identityNamespace }, { signal: limited }),
    );
    return found?.metadata.uid;
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
