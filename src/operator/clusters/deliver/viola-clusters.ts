import * as z from 'zod';
import { clusters, clustersPath } from '../../../api/node-configs-http.ts';
import type { Caller } from '../../../requests/caller.ts';
import type { Clock } from '../../../time/clock.ts';
import type { TokenSource } from './token-source.ts';
import { bodyOf } from './viola-answer.ts';

/** Business cluster reported by Viola. */
export type ReportedCluster = z.infer<typeof clusters>['items'][number];

/**
 * Time limit for a read (ms). Viola itself waits up to 10 s for a hanging business cluster: 5 s for the version, then 5 s
 * for rights and networks.
 */
export const clustersWithinMs = 20_000;

interface ClusterReader {
  readonly caller: Pick<Caller, 'call'>;
  /** Base URL of Viola. */
  readonly endpoint: string;
  /** undefined: no token is sent. */
  readonly token: TokenSource | undefined;
  readonly clock: Pick<Clock, 'now'>;
}

/** A Viola's /version; earlier releases do not name the fields. */
const version = z.object({ sourceFields: z.array(z.string()).catch([]) });

/** Returns whether Viola stores cluster and cloud in a node's source; false while it does not answer. */
export async function storesIdentity(
  caller: Pick<Caller, 'call'>,
  endpoint: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { origin, pathname } = new URL(endpoint);
  const url = new URL(`${origin}${pathname.replace(/\/+$/, '')}/version`);
  try {
    const call = { service: 'viola', method: 'GET', url, headers: {}, repeats: false } as const;
    const { text } = await caller.call(call, signal);
    const { sourceFields } = version.parse(JSON.parse(text));
    return sourceFields.includes('cluster') && sourceFields.includes('cloud');
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

/** Reads the business clusters known to Viola and allowed by the operator's token. Throws RequestError. */
export async function readClusters(
  { caller, endpoint, token, clock }: ClusterReader,
  signal: AbortSignal,
): Promise<readonly ReportedCluster[]> {
  const { origin, pathname } = new URL(endpoint);
  const answer = await caller.call(
    {
      service: 'viola',
      method: 'GET',
      url: new URL(origin + pathname.replace(/\/+$/, '') + clustersPath),
      headers: token ? { authorization: `Bearer ${await token()}` } : {},
      repeats: false,
    },
    signal,
  );
  return bodyOf(answer, 200, clusters, clock.now()).items;
}
