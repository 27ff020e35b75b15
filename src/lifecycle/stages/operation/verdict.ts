import type { Operation } from '../../model/mariadb/operation-record.ts';
import { runningBackups } from '../../model/mariadb/operation-runs.ts';
import type { Observed } from '../../model/stage.ts';

/** Decision after a step. */
export type Verdict =
  /** Not yet; `why`: reason for waiting. */
  | { readonly go: 'wait'; readonly why: string }
  /** Starts the next step, with these changes. */
  | { readonly go: 'next'; readonly step: string; readonly change?: Partial<Operation> }
  | { readonly go: 'end' };

type Step = (observed: Observed, operation: Operation) => Verdict;

/** Steps for an operation kind, by name. Each decision follows from the objects, and may repeat after a kill. */
export type Steps = Readonly<Record<string, Step>>;

export function wait(why: string): Verdict {
  return { go: 'wait', why };
}

export function next(step: string, change?: Partial<Operation>): Verdict {
  return { go: 'next', step, ...(change ? { change } : {}) };
}

/** Each operation waits for running backups first; undefined: none. */
export function waitForBackups(observed: Observed): Verdict | undefined {
  const backups = runningBackups(observed);
  return backups.length === 0 ? undefined : wait(`waits for Job ${backups.join(', ')}`);
}
