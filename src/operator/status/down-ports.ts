import { createHash } from 'node:crypto';
import { rfc3339 } from '../../api/condition.ts';
import type { OpenstackConfigStatus } from '../../api/openstackconfig.ts';
import type { Observation } from '../../plan/observation.ts';
import type { NodePlan } from '../../plan/plan.ts';

type DownPortRetry = OpenstackConfigStatus['downPortRetry'];

/** Ids of delivered ports that are DOWN, sorted. */
export function downPortsOf(nodes: readonly NodePlan[], { ports }: Observation): string[] {
  const delivered = new Set(nodes.flatMap((node) => node.interfaces.map(({ portId }) => portId)));
  const down = ports.filter(({ id, status }) => status === 'DOWN' && delivered.has(id));
  return down.map(({ id }) => id).toSorted();
}

/**
 * Counts the fast looks at ports that are DOWN. Another set of ports starts anew; a set that stays DOWN (a stopped
 * server) is looked at slowly in the end.
 */
export function downPortRetry(
  ids: readonly string[],
  previous: DownPortRetry,
  max: number,
  now: Date,
): DownPortRetry {
  if (ids.length === 0) return undefined;
  const hash = createHash('sha256').update(ids.join(',')).digest('hex');
  const before = previous?.hash === hash ? (previous.fastAttempts ?? 0) : 0;
  if (previous?.hash === hash && before >= max) return previous;
  return { hash, lastAttempt: rfc3339(now), fastAttempts: before + 1 };
}
