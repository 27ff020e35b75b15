import { connect } from 'node:net';
import type { ApiServer } from '../../api/job.ts';
import { type Coded, coded } from '../../api/nic-codes.ts';
import type { Clock } from '../../time/clock.ts';
import { remoteTargets } from '../path/lookups.ts';
import type { Refusal } from '../planning/refusals.ts';
import type { Snapshot } from '../snapshot.ts';

/** TCP address of the API server. */
export interface Target {
  readonly kind: 'service' | 'endpoint';
  readonly address: string;
  readonly port: number;
}

/** Result of a TCP connect; `refused`: the address answered, such as a restarting API server. */
export type Connected = 'open' | 'refused' | 'silent';
export type Connect = (target: Target, timeoutMs: number) => Promise<Connected>;

/** Time limit in ms before the change: slower targets are not compared. */
const beforeMs = 1_000;
/** Time limits in ms of the two attempts after the change. */
const attemptsMs = [2_000, 3_000] as const;

/** Connects without a source address, as the kubelet does. */
export const connectTcp: Connect = ({ address, port }, timeoutMs) => {
  const { promise, resolve } = Promise.withResolvers<Connected>();
  const socket = connect({ host: address, port });
  socket.setTimeout(timeoutMs, () => resolve('silent'));
  socket.on('connect', () => resolve('open'));
  socket.on('error', ({ code }: NodeJS.ErrnoException) =>
    resolve(code === 'ECONNREFUSED' ? 'refused' : 'silent'),
  );
  return promise.finally(() => socket.destroy());
};

/** Returns the API server's addresses with an open port before a change. */
export async function reachedTargets(
  apiServer: ApiServer | undefined,
  host: Pick<Snapshot, 'addresses'>,
  tcp: Connect,
): Promise<readonly Target[]> {
  const { service, endpoints } = remoteTargets(apiServer, host);
  const targets: Target[] = [
    ...(service ? [{ kind: 'service' as const, ...service }] : []),
    ...endpoints.map((endpoint) => ({ kind: 'endpoint' as const, ...endpoint })),
  ];
  const results = await Promise.all(targets.map((target) => tcp(target, beforeMs)));
  return targets.filter((_, at) => results[at] === 'open');
}

/** Returns why the change must be undone: an earlier reachable target fails twice. Undefined: all answer. */
export async function lostConnectivity(
  targets: readonly Target[],
  tcp: Connect,
  clock: Clock,
): Promise<(Refusal & Coded) | undefined> {
  const results = await Promise.all(targets.map((target) => answersAgain(target, tcp, clock)));
  const lost = targets.find((_, at) => !results[at]);
  return lost && refusalFor(lost);
}

/** The second attempt starts when the first attempt's time is over: a failure may come at once, and pass. */
async function answersAgain(target: Target, tcp: Connect, clock: Clock): Promise<boolean> {
  const [firstMs, secondMs] = attemptsMs;
  const start = clock.monotonicMs();
  if ((await tcp(target, firstMs)) !== 'silent') return true;
  const left = firstMs - (clock.monotonicMs() - start);
  if (left > 0) await clock.sleep(left);
  return (await tcp(target, secondMs)) !== 'silent';
}

function refusalFor({ kind, address, port }: Target): Refusal & Coded {
  const at = `${address.includes(':') ? `[${address}]` : address}:${port}`;
  const what = kind === 'service' ? 'the Service address of the API server' : 'the API server at';
  const message = `the node no longer reached ${what} ${at}`;
  const code = kind === 'service' ? 'ServiceUnreachable' : 'EndpointUnreachable';
  return { reason: 'NodeConnectivityLost', message, ...coded(code, { address, port }) };
}
