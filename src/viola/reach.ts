import { rfc3339 } from '../api/condition.ts';
import type { Clock } from '../time/clock.ts';
import { withDeadline } from '../time/deadline.ts';
import type { Clusters } from './clusters.ts';

export interface Reached {
  readonly providerId: string;
  readonly server: string;
  readonly reachable: boolean;
  readonly checkedAt: string;
  readonly message: string;
}

/** Many that hang are asked in one request, a few at a time. */
const answerWithinMs = 5_000;

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
      const limit = { clock, ms: answerWithinMs, signal };
      const { gitVersion } = await withDeadline(limit, (limited) =>
        client.version({ signal: limited }),
      );
      const message = `Kubernetes ${gitVersion}`;
      return { providerId, server, reachable: true, checkedAt, message };
    } catch (error) {
      signal.throwIfAborted();
      const message = error instanceof Error ? error.message : String(error);
      return { providerId, server, reachable: false, checkedAt, message };
    }
  });
}
