import { readPaths } from '../../api/read-http.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { DeadlineReached, type Limit } from '../../time/deadline.ts';
import { ApiError } from '../access/api-error.ts';
import { findOperator } from '../access/operator-home.ts';
import { type OperatorTunnel, openOperator } from '../access/operator-tunnel.ts';
import type { AccessOptions } from '../access/options.ts';
import { SourceLimit } from '../access/source-limit.ts';
import type { LimitOf } from './cluster-way.ts';
import type { Way } from './live-connection.ts';

/** Means for the way to the operator. */
interface OperatorWayOptions {
  readonly limitOf: LimitOf;
  readonly management: (limit: Limit) => Promise<KubeClient>;
  /** Takes the place of the API for messages. */
  readonly onPlace: (place: string) => void;
}

/** Returns the way to the operator's leader; each attempt finds the leader again. */
export function operatorWay(
  options: AccessOptions,
  { limitOf, management, onPlace }: OperatorWayOptions,
): Way<OperatorTunnel> {
  return {
    open(signal) {
      const limit = limitOf(signal);
      const search = { chosen: options.operatorNamespace, now: limit.clock.now(), signal };
      const home = async () => findOperator(await management(limit), search);
      return openOperator(options, { limit, home, onPlace });
    },
    async check({ api }, signal) {
      try {
        // Only the leader serves this route.
        await api.within(new SourceLimit(limitOf(signal))).text(readPaths.clusters);
      } catch (error) {
        if (isOperatorSilent(error) || signal.aborted) throw error;
      }
    },
  };
}

/** Returns true without the leader's answer: silence, or a follower's or a proxy's answer. */
export function isOperatorSilent(error: unknown): boolean {
  if (error instanceof DeadlineReached) return true;
  if (!(error instanceof ApiError)) return false;
  const { reason, status } = error;
  return (
    reason === 'Unreachable' || reason === 'NotLeading' || (reason === 'NoJson' && status >= 500)
  );
}
