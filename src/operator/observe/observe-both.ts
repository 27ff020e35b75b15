import type { HeldNode } from '../../api/node-configs-http.ts';
import { keyOf } from '../../kube/object.ts';
import type { Access } from '../access.ts';
import { violaFailure } from '../deliver/delivery-rounds.ts';
import type { Wish } from '../wish.ts';
import { type ChosenSubnets, chooseSubnets } from './choose-subnets.ts';
import { type Look, observe } from './observe.ts';

/** What was seen at both ends before anything was planned. */
export interface Seen {
  readonly subnets: ChosenSubnets;
  readonly look: Look;
  readonly held: readonly HeldNode[];
}

/** Looks at the cloud and reads the business cluster at once; when both fail, OpenStack is the first step. */
export async function observeBoth(
  { config, source, maxAgeMs, force }: Wish,
  { view, viola }: Access,
  signal: AbortSignal,
): Promise<Seen> {
  const subnets = await chooseSubnets(view.cloud, config.subnets, signal);
  const [look, held] = await Promise.allSettled([
    observe({ ...view, ...config, member: keyOf(source), subnets, maxAgeMs }, signal),
    viola.list({ fresh: force }, signal),
  ]);
  signal.throwIfAborted();
  if (look.status === 'rejected') throw look.reason;
  if (held.status === 'rejected') throw violaFailure(held.reason);
  return { subnets, look: look.value, held: held.value };
}
