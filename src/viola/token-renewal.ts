import type { Effect } from '../api/effects.ts';
import { annotations } from '../api/names.ts';
import type { Store } from '../kube/cache/store.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { type Secret, secrets, tokenRequestsOf } from '../kube/core-resources.ts';
import { keyOf } from '../kube/object.ts';
import type { Perform } from '../process/effects.ts';
import type { Logger } from '../process/log.ts';
import { type Clock, passed } from '../time/clock.ts';
import type { Cluster, Clusters } from './clusters.ts';
import { type Life, lifeOf, type RegisteredToken, registeredToken } from './registered-token.ts';

export interface RenewalOptions {
  readonly secrets: Pick<Store<Secret>, 'list'>;
  /** Whether the Secrets have been listed. */
  readonly listed: () => boolean;
  readonly clusters: Pick<Clusters, 'use'>;
  readonly management: Pick<KubeClient, 'patch'>;
  readonly perform: Perform<Effect>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The shortest token that an API server makes is good for ten minutes. */
const lookMs = 60_000;
/** As long as the Secrets have not been listed. */
const soonMs = 1_000;
/** How long a Secret that was tried is left alone, and which part of the life of its token at most. */
const restMs = 600_000;
const restPart = 0.1;

/** Monotonic time until which a Secret, as it is now, is left alone: one that somebody corrects is another one. */
type Rests = WeakMap<Secret, number>;

/**
 * Renews, until the signal aborts, the tokens of registrations that say whose token they hold, when half of their life is
 * over: they survive any outage that is shorter than the other half. Replicas of Viola may do so at once: each new token
 * is good, and the Secret takes one of them.
 */
export async function renewTokens(options: RenewalOptions, signal: AbortSignal): Promise<void> {
  const rests: Rests = new WeakMap();
  do {
    const now = options.clock.monotonicMs();
    const rested = options.secrets.list().filter((secret) => (rests.get(secret) ?? 0) <= now);
    await Promise.all(rested.map((secret) => renewOne(secret, rests, options, signal)));
  } while (await passed(options.clock, options.listed() ? lookMs : soonMs, signal));
}

/** One cluster that cannot be reached keeps no other from its token; it is tried again at a later look. */
async function renewOne(
  secret: Secret,
  rests: Rests,
  options: RenewalOptions,
  signal: AbortSignal,
): Promise<void> {
  const account = secret.metadata.annotations?.[annotations.renewsTokenOf];
  if (account === undefined) return;
  const { log, clock } = options;
  const rest = (ms: number) => rests.set(secret, clock.monotonicMs() + Math.min(restMs, ms));
  const name = keyOf(secret);
  const held = registeredToken(secret);
  const life = held && lifeOf(held.token);
  if (!life) {
    log.warn(
      { secretName: name },
      'its token does not say when it ends, and is not renewed: register the cluster again',
    );
    rest(restMs);
    return;
  }
  if (!isDue(life, clock.now().getTime())) return;
  rest((life.to - life.from) * restPart);
  try {
    await options.clusters.use(held.providerId, async (lookup) => {
      if (lookup.kind !== 'found') return; // said where the Secret is read
      const token = await requestToken(lookup.cluster, account, life, options, signal);
      await putToken(secret, held, token, options, signal);
      log.info(
        { secretName: name, providerId: held.providerId },
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

/** A token as long as the one before it. */
async function requestToken(
  { client, namespace }: Cluster,
  account: string,
  { from, to }: Life,
  { perform }: RenewalOptions,
  signal: AbortSignal,
): Promise<string> {
  const spec = { audiences: [], expirationSeconds: Math.round((to - from) / 1000) };
  const asked = { metadata: { name: account, namespace }, spec };
  const { status } = await perform('viola.token.request', async () =>
    client.create(tokenRequestsOf(account), asked, { signal }),
  );
  if (!status) throw new Error(`the API server made no token for ${namespace}/${account}`);
  return status.token;
}

/** A Secret that somebody wrote meanwhile is left as it is. */
async function putToken(
  { metadata }: Secret,
  held: RegisteredToken,
  token: string,
  { management, perform }: RenewalOptions,
  signal: AbortSignal,
): Promise<void> {
  const { resourceVersion } = metadata;
  const change = { metadata: { resourceVersion }, data: held.with(token) };
  await perform('viola.token.store', async () =>
    management.patch(secrets, metadata, change, { signal }),
  );
}
