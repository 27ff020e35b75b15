import { missingOf, type UnreadSource, unreadSources } from '../../explain/conclusion.ts';
import type { Fact, Missing } from '../../explain/fact.ts';
import { joined } from '../../explain/wording.ts';
import type { AccessOptions } from '../../session/access/options.ts';
import { sourcesInContext } from '../../session/in-context.ts';

/** Gaps in an answer: sources without an answer, and optional facts. */
export interface Gaps {
  readonly unread: readonly UnreadSource[];
  readonly skipped: readonly Missing[];
}

/** Returns the gaps behind unread facts, with the user's access options in the next steps. */
export function gapsIn(missing: readonly Missing[], options: AccessOptions): Gaps {
  return {
    unread: sourcesInContext(unreadSources(missing), options),
    skipped: mergedByCause(missing.filter(({ required }) => required === undefined)),
  };
}

/** Returns the gaps behind facts. */
export function gapsOf(facts: readonly Fact<unknown>[], options: AccessOptions): Gaps {
  return gapsIn(facts.flatMap(missingOf), options);
}

/** Merges facts with the same cause and next step: a missing right hides several facts. */
export function mergedByCause(missing: readonly Missing[]): Missing[] {
  const groups = Map.groupBy(missing, ({ why, next }) => JSON.stringify([why.en, next.en]));
  return [...groups.values()].flatMap((group) => {
    const names = new Map(group.map(({ what }) => [what.en, what]));
    return group.slice(0, 1).map(({ why, next }) => ({
      what: joined([...names.values()], ', '),
      why,
      next,
    }));
  });
}
