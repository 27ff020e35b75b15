import type { Clock, Random } from '../../time/clock.ts';
import type { ClusterAccess } from '../access/access.ts';
import type { KubeClient } from './client.ts';
import { reads } from './reads.ts';
import { reviews } from './reviews.ts';
import { type RequestSample, Transport } from './transport.ts';
import { watch } from './watch.ts';
import { writes } from './writes.ts';

export interface KubeClientOptions {
  readonly clock: Clock;
  /** Retry jitter (default: none). */
  readonly random?: Random;
  readonly userAgent?: string;
  /** Timeout per attempt, from connecting to the last byte (default 30 s); watches excepted. */
  readonly timeoutMs?: number;
  /** Maximum connections for calls (default 16); watches use separate connections. */
  readonly connections?: number;
  /** Called after every attempt, for metrics. */
  readonly onRequest?: (sample: RequestSample) => void;
}

/** Creates a client with separate connection pools; dispose to close them. */
export function createKubeClient(access: ClusterAccess, options: KubeClientOptions): KubeClient {
  const { clock, random = () => 0.5, userAgent = 'multinic' } = options;
  const { timeoutMs = 30_000, connections = 16, onRequest } = options;
  const transport = new Transport(access, {
    clock,
    random,
    userAgent,
    timeoutMs,
    connections,
    onRequest,
  });
  return {
    ...reads(transport),
    ...writes(transport),
    ...reviews(transport),
    watch: (resource, watchOptions) => watch({ transport, clock }, resource, watchOptions),
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  };
}
