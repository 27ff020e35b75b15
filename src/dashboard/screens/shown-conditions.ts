import type { Condition } from '../../api/condition.ts';
import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { ofMessage } from '../../explain/wording.ts';

type ShownCondition = ScreenAnswer<'node'>['conditions'][number];

/** Returns an object's conditions in words; `generation`: the object's present generation. */
export function shownConditions(
  conditions: readonly Condition[],
  generation: number | undefined,
): ShownCondition[] {
  return conditions.map(({ type, status, reason = '', message, lastTransitionTime, ...more }) => ({
    type,
    status,
    reason,
    text: ofMessage(reason, message),
    since: lastTransitionTime,
    isOutdated: (more.observedGeneration ?? generation) !== generation,
  }));
}
