import type { ClusterAccess } from '../../kube/access/access.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { KubeError } from '../../kube/errors.ts';
import { DeadlineReached } from '../../time/deadline.ts';
import { boundedClient } from '../access/bounded-client.ts';
import type { ChildLimit } from '../access/child.ts';
import { connect } from '../access/cluster-access.ts';
import { openCluster } from '../access/cluster-tunnel.ts';
import type { AccessOptions } from '../access/options.ts';
import { SourceLimit } from '../access/source-limit.ts';
import type { Mortal, Way } from './live-connection.ts';

/** An open connection to an API server. */
export interface LiveCluster extends Mortal {
  readonly access: ClusterAccess;
  readonly client: KubeClient;
}

/** Limit for an attempt; the signal ends the attempt. */
export type LimitOf = (signal: AbortSignal) => ChildLimit;

/** Returns the way to a business cluster; undefined: to the management cluster. */
export function clusterWay(
  options: AccessOptions,
  provider: string | undefined,
  limitOf: LimitOf,
): Way<LiveCluster> {
  return {
    async open(signal) {
      const limit = limitOf(signal);
      const access = await openCluster(options, provider, limit);
      const client = connect(access, limit);
      return {
        access,
        client,
        ended: access.ended,
        async [Symbol.asyncDispose]() {
          await client[Symbol.asyncDispose]();
          await access[Symbol.asyncDispose]();
        },
      };
    },
    async check({ client }, signal) {
      try {
        await boundedClient(client, new SourceLimit(limitOf(signal))).version({ signal });
      } catch (error) {
        if (isClusterSilent(error) || signal.aborted) throw error;
      }
    },
  };
}

/** Returns true without the API server's own answer; kubectl proxy then reports a status from 500. */
export function isClusterSilent(error: unknown): boolean {
  if (error instanceof DeadlineReached) return true;
  return error instanceof KubeError && (error.status === 0 || error.status >= 500);
}
