import type { Wording } from '../api/texts/text.ts';
import type { Fact, Missing, RequiredSource } from './fact.ts';

/**
 * Conclusion of a step, a section, a port or the system. `wrong`: a fact that was read shows a problem. `incomplete`:
 * nothing that was read is wrong, but a fact is unread.
 */
export type Conclusion = 'good' | 'wrong' | 'incomplete';

/** Source without an answer, and the cause. */
export interface UnreadSource extends RequiredSource {
  readonly why: Wording;
  /** How the user gets the answer, such as a command per missing right; empty: unknown. */
  readonly next: readonly Wording[];
}

/** Findings and gaps of an examination. */
export interface Examined {
  /** A fact that was read shows a problem. */
  readonly isWrong: boolean;
  /** At least one check ran. */
  readonly isExamined: boolean;
  readonly missing: readonly Missing[];
}

/** Returns the conclusion; undefined: all facts were read, and they left nothing to examine. */
export function conclude({ isWrong, isExamined, missing }: Examined): Conclusion | undefined {
  if (isWrong) return 'wrong';
  if (isExamined) return unreadSources(missing).length > 0 ? 'incomplete' : 'good';
  return missing.length > 0 ? 'incomplete' : undefined;
}

/** Returns the required sources without an answer; one access that hides several facts counts once. */
export function unreadSources(missing: readonly Missing[]): UnreadSource[] {
  const byAccess = Map.groupBy(missing, ({ required, why }) =>
    required === undefined ? '' : JSON.stringify([required.source, required.place, why.en]),
  );
  return [...byAccess.values()].flatMap(([first, ...others]) => {
    if (first?.required === undefined) return [];
    const steps = [first, ...others].map(({ next }) => [next.en, next] as const);
    const next = [...new Map(steps.filter(([text]) => text !== '')).values()];
    return [{ ...first.required, why: first.why, next }];
  });
}

/** Returns the gap that an unread fact leaves; empty for a fact that was read. */
export function missingOf(fact: Fact<unknown>): readonly Missing[] {
  if (fact.state === 'read') return [];
  const { what, why, next, required } = fact;
  return [{ what, why, next, ...(required === undefined ? {} : { required }) }];
}
