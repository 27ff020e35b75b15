import type { Effect } from '../../api/effects.ts';
import { annotations } from '../../api/names.ts';
import type { Store } from '../../kube/cache/store.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { type Secret, secrets, tokenRequestsOf } from '../../kube/core-resources.ts';
import { keyOf } from '../../kube/object.ts';
import type { Perform } from '../../process/effects.ts';
import type { Logger } from '../../process/log.ts';
import { type Clock, passed } from '../../time/clock.ts';
import type { Cluster, Clusters } from '../clusters/clusters.ts';
import { type Life, lifeOf, type RegisteredToken, registeredToken } from './registered-token.ts';

export interface RenewalOptions {
  readonly secrets: Pick<Store<Secret>, 'list'>;
  /** True once the Secrets were listed. */
  readonly listed: () => boolean;
  readonly clusters: Pick<Clusters, 'use'>;
  readonly management: Pick<KubeClient, 'patch'>;
  readonly perform: Perform<Effect>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Check interval (1 min): the shortest token from an API server is valid for ten minutes. */
const checkMs = 60_000;
/** Check interval (1 s) until the Secrets were listed. */
const unlistedCheckMs = 1_000;
/** Pause after an attempt for a Secret: 10 min, but at most 10 % of the token's lifetime. */
const pauseMs = 600_000;
const pauseFraction = 0.1;

/** End of the pause (monotonic milliseconds) per Secret object. An edited Secret is a new object without pause. */
type Pauses = WeakMap<Secret, number>;

/**
 * Renews the tokens of annotated registration Secrets after half their lifetime, until the signal aborts. A token then
 * outlives renewals that fail for half a lifetime. Several replicas may renew a token at once: each new token is valid,
 * and the Secret stores the last token.
 */
export async function renewTokens(options: RenewalOptions, signal: AbortSignal): Promise<void> {
  const pauses: Pauses = new WeakMap();
  do {
    const now = options.clock.monotonicMs();
    const due = options.secrets.list().filter((secret) => (pauses.get(secret) ?? 0) <= now);
    await Promise.all(due.map((secret) => renewOne(secret, pauses, options, signal)));
  } while (await passed(options.clock, options.listed() ? checkMs : unlistedCheckMs, signal));
}

/** Renews the token in a Secret. A failure is logged and retried after the pause, for this Secret only. */
async function renewOne(
  secret: Secret,
  pauses: Pauses,
  options: RenewalOptions,
  signal: AbortSignal,
): Promise<void> {
  const account = secret.metadata.annotations?.[annotations.renewsTokenOf];
  if (account === undefined) return;
  const { log, clock } = options;
  const pause = (ms: number) => pauses.set(secret, clock.monotonicMs() + Math.min(pauseMs, ms));
  const name = keyOf(secret);
  const current = registeredToken(secret);
  const life = current && lifeOf(current.token);
  if (!life) {
    log.warn(
      { secretName: name },
      'token of a business cluster has no readable expiry and is not renewed; register the cluster again',
    );
    pause(pauseMs);
    return;
  }
  if (!isDue(life, clock.now().getTime())) return;
  pause((life.to - life.from) * pauseFraction);
  try {
    await options.clusters.use(current.providerId, async (lookup) => {
      // The registrations report an unusable Secret.
      if (lookup.kind !== 'found') return;
      const token = await requestToken(lookup.cluster, account, life, options, signal);
      await putToken(secret, current, token, options, signal);
      log.info(
        { secretName: name, providerId: current.providerId },
        'token of a business cluster renewed',
      );
    });
  } catch (error) {
    if (signal.aborted) return;
    log.warn(
      { secretName: name, err: error, ends: new Date(life.to) },
      'cannot renew the token of a business cluster',
    );
  }
}

function isDue({ from, to }: Life, now: number): boolean {
  return now >= from + (to - from) / 2;
}

/** Requests a token with the previous token's lifetime. */
async function requestToken(
  { client, namespace }: Cluster,
  account: string,
  { from, to }: Life,
  { perform }: RenewalOptions,
  signal: AbortSignal,
): Promise<string> {
  const spec = { audiences: [], expirationSeconds: Math.round((to - from) / 1000) };
  const request = { metadata: { name: account, namespace }, spec };
  const { status } = await perform('viola.token.request', async () =>
    client.create(tokenRequestsOf(account), request, { signal }),
  );
  if (!status)
    throw new Error(`the API server returned no token for ServiceAccount ${namespace}/${account}`);
  return status.token;
}

/** Stores the token; a Secret with a newer resourceVersion stays unchanged. */
async function putToken(
  { metadata }: Secret,
  current: RegisteredToken,
  token: string,
  { management, perform }: RenewalOptions,
  signal: AbortSignal,
): Promise<void> {
  const { resourceVersion } = metadata;
  const change = { metadata: { resourceVersion }, data: current.with(token) };
  await perform('viola.token.store', async () =>
    management.patch(secrets, metadata, change, { signal }),
  );
}
