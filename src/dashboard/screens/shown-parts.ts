import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import type { PartHealth, PartVersion, SystemFacts } from '../../explain/facts.ts';
import { problemOf, resultOf } from '../../explain/part-health.ts';
import { valueOf } from '../../explain/subject.ts';

type ShownPart = ScreenAnswer<'fleet'>['parts'][number];

/** Returns the parts of the management cluster; empty: none, or unread. */
export function shownParts({ parts, versions }: SystemFacts): ShownPart[] {
  return (valueOf(parts) ?? []).map((each) => shownPart(each, valueOf(versions) ?? []));
}

/** Returns a part; `versions`: builds of all parts. */
export function shownPart(health: PartHealth, versions: readonly PartVersion[]): ShownPart {
  const { part, providerId, namespace, readyReplicas, replicas, leader } = health;
  const own = versions.find((each) => each.part === part && each.providerId === providerId);
  return {
    part,
    providerId,
    namespace,
    result: resultOf(health),
    problem: problemOf(health),
    readyReplicas,
    replicas,
    leader,
    version: own?.version,
  };
}
