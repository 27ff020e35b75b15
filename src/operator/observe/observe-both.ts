import type { HeldNode, UnreadableNode } from '../../api/node-configs-http.ts';
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
  /** What the business cluster holds for the OpenstackConfig and its servers. */
  readonly held: readonly HeldNode[];
  readonly unreadable: readonly UnreadableNode[];
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
    viola.list({ fresh: force, source, instanceIds: config.serverIds }, signal),
  ]);
  signal.throwIfAborted();
  if (look.status === 'rejected') throw look.reason;
  if (held.status === 'rejected') throw violaFailure(held.reason);
  return { subnets, look: look.value, held: held.value.nodes, unreadable: held.value.unreadable };
}

/** Servers with a selected port that no object names yet: only their names are asked for elsewhere. */
export function serversWithNewPorts({ subnets, look, held }: Seen): string[] {
  const chosen = new Set(subnets.ids);
  const named = new Set(
    held.flatMap(({ spec }) => spec.interfaces ?? []).map(({ portId }) => portId?.toLowerCase()),
  );
  const fresh = look.observation.ports.filter(
    ({ id, fixedIps }) => !named.has(id) && fixedIps.some(({ subnetId }) => chosen.has(subnetId)),
  );
  return [...new Set(fresh.map(({ deviceId }) => deviceId))];
}
