import { rfc3339 } from '../api/condition.ts';
import type { Clock } from '../time/clock.ts';
import type { Clusters } from './clusters.ts';

export interface Reached {
  readonly providerId: string;
  readonly server: string;
  readonly reachable: boolean;
  readonly checkedAt: string;
  readonly message: string;
}

/** Asks one registered cluster for its version; says why it cannot be reached. */
export async function reach(
  clusters: Clusters,
  providerId: string,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Reached> {
  const checkedAt = rfc3339(clock.now());
  return clusters.use(providerId, async (found) => {
    if (found.kind !== 'found') {
      const message = found.kind === 'broken' ? found.message : 'its Secret is gone';
      return { providerId, server: '', reachable: false, checkedAt, message };
    }
    const { client, server } = found.cluster;
    try {
      const { gitVersion } = await client.version({ signal });
      const message = `Kubernetes ${gitVersion}`;
      return { providerId, server, reachable: true, checkedAt, message };
    } catch (error) {
      signal.throwIfAborted();
      const message = error instanceof Error ? error.message : String(error);
      return { providerId, server, reachable: false, checkedAt, message };
    }
  });
}
