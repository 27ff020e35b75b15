import type { ClusterAccess } from '../access/access.ts';
import type { KubeClient } from '../client/client.ts';
import { createKubeClient, type KubeClientOptions } from '../client/http-client.ts';

export interface LeaseClientOptions extends KubeClientOptions {
  readonly leaseDurationMs: number;
}

/**
 * Creates a client for one lease with its own connection: behind the part's calls, possibly all hanging, a renewal
 * would be late. A hanging connection is replaced after half the renew deadline.
 */
export function createLeaseClient(
  access: ClusterAccess,
  { leaseDurationMs, ...options }: LeaseClientOptions,
): KubeClient {
  return createKubeClient(access, { ...options, timeoutMs: leaseDurationMs / 3, connections: 1 });
}
