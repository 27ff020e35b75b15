import type { Wording } from '../api/texts/text.ts';
import type { Fact, Missing, RequiredSource } from './fact.ts';

/**
 * Conclusion about a section or a port. `wrong`: a read fact shows a problem. `incomplete`: no read fact shows a problem,
 * but a fact is unread.
 */
export type Conclusion = 'good' | 'wrong' | 'incomplete';

/** Source without an answer, with cause and next steps. */
export interface UnreadSource extends RequiredSource {
  readonly why: Wording;
  /** How the user gets the answer, such as a command per missing right; empty: unknown. */
  readonly next: readonly Wording[];
}

/** Examination result: problems, checks and unread facts. */
export interface Examined {
  /** A read fact shows a problem. */
  readonly isWrong: boolean;
  /** At least one check ran. */
  readonly isExamined: boolean;
  readonly missing: readonly Missing[];
}

/** Returns the conclusion; undefined: the facts left nothing to examine. */
export function conclude({ isWrong, isExamined, missing }: Examined): Conclusion | undefined {
  if (isWrong) return 'wrong';
  if (isExamined) return unreadSources(missing).length > 0 ? 'incomplete' : 'good';
  return missing.length > 0 ? 'incomplete' : undefined;
}

/** Returns required sources without an answer; a missing access with several facts counts once. */
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

/** Returns an unread fact's description; empty: the fact was read. */
export function missingOf(fact: Fact<unknown>): readonly Missing[] {
  if (fact.state === 'read') return [];
  const { what, why, next, required } = fact;
  return [{ what, why, next, ...(required === undefined ? {} : { required }) }];
}
