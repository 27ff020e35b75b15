import { type Condition, findCondition, undated } from '../../../api/condition.ts';
import type { OpenstackConfigStatus } from '../../../api/openstackconfig.ts';
import { keyOf } from '../../../kube/object.ts';
import type { Notifications } from '../../cloud/notifications/notifications.ts';
import type { ConfigContext } from '../../model/memory/config-memory.ts';
import { latestObject } from '../../model/memory/latest-object.ts';
import { generationOf, observesNodes } from '../../model/openstack-config.ts';
import type { ReportedSync } from '../result.ts';
import { type Ending, delivered as goodDelivered } from './conditions.ts';
import { evidenceMemory } from './evidence.ts';
import { unreadSummary, withEvidence } from './evidence-conditions.ts';
import { handledBy } from './handled.ts';
import type { NextAttempt } from './next-attempt.ts';
import { updateOf } from './nics-ready.ts';
import { statusAfter } from './status.ts';

/** End of an attempt to sync, or to delete. */
export interface Attempt {
  readonly ending: Ending;
  /** Undefined: the sync did not complete, and the last sync's fields stay. */
  readonly completed?: ReportedSync;
  /** Decides from the new status when the next attempt follows. */
  readonly next: (status: OpenstackConfigStatus) => NextAttempt;
}

interface Surroundings {
  /** The status in the object. */
  readonly previous: OpenstackConfigStatus;
  readonly notifications: Pick<Notifications, 'conditionOf'>;
  readonly now: Date;
}

/** Returns the status after an attempt, without the time of the next attempt. */
export function statusOfAttempt(
  context: ConfigContext,
  { ending, completed }: Attempt,
  { previous, notifications, now }: Surroundings,
): OpenstackConfigStatus {
  const { object, memory } = context;
  const generation = generationOf(object);
  const { conditions: before = [] } = previous;
  const synced = completed?.synced;
  const status = statusAfter({
    ending,
    notifications: notifications.conditionOf(keyOf(object), before),
    completed,
    previous,
    generation,
    now,
    handled: handledBy(latestObject(context), { ending, synced }, now),
  });
  const delivered = findCondition(status.conditions, goodDelivered.type);
  // The nodes of a deleted object are not read.
  if (delivered === undefined) return withUnreadNics(status);
  const evidence = evidenceMemory.of(memory.term);
  if (completed) evidence.noteSync(completed, generation);
  evidence.noteAttempt({ delivered: updateOf(delivered), generation });
  const at = { now, generation, observes: observesNodes(object) };
  const after = withEvidence(status, before, evidence, at);
  return { ...after, conditions: withTimesOf(before, after.conditions) };
}

function withUnreadNics(status: OpenstackConfigStatus): OpenstackConfigStatus {
  const summary = unreadSummary(status.summary);
  return summary ? { ...status, summary } : status;
}

/** Retains the message when an Unknown condition's new message differs only by a time. */
function withTimesOf(
  before: readonly Condition[],
  conditions: readonly Condition[] = [],
): Condition[] {
  return conditions.map((one) => {
    const { message } = findCondition(before, one.type) ?? {};
    const isSame = one.status === 'Unknown' && undated(message) === undated(one.message);
    return isSame ? { ...one, message } : one;
  });
}
