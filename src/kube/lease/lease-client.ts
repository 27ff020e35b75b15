import type { ClusterAccess } from '../access/access.ts';
import type { KubeClient } from '../client/client.ts';
import { createKubeClient, type KubeClientOptions } from '../client/http-client.ts';

export interface LeaseClientOptions extends KubeClientOptions {
  readonly leaseDurationMs: number;
}

/**
 * A client for one lease. It has a connection of its own: behind the calls of the part, which may all hang, a renewal
 * would come too late. A connection that hangs is given up after half of the time to renew, for another one.
 */
export function createLeaseClient(
  access: ClusterAccess,
  { leaseDurationMs, ...options }: LeaseClientOptions,
): KubeClient {
  return createKubeClient(access, { ...options, timeoutMs: leaseDurationMs / 3, connections: 1 });
}
