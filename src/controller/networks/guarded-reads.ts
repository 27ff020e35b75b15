import { isForbidden } from '../../kube/errors.ts';
import type { Logger } from '../../process/log.ts';
import { UnreadableSource } from './network-text.ts';

/** Object that the controller reads or writes, with texts for warnings. */
export interface Guarded {
  readonly name: string;
  /** Right in words; undefined: the controller needs no optional right. */
  readonly right?: string;
  /** Clause: what a failure costs. */
  readonly lack: string;
  /** Clause: what a user can do instead; undefined: nothing. */
  readonly instead?: string;
}

/** Outcome of a read; `isUnknown`: the cluster may have the object, so a later read may succeed. */
export type Outcome<T> = { readonly value: T } | { readonly isUnknown: boolean };

export interface GuardedReads {
  /** Returns the value, or why the value is missing; throws only after an abort. */
  attempt<T>(of: Guarded, work: () => Promise<T>, signal: AbortSignal): Promise<Outcome<T>>;
  /** Forgets the failures of earlier rounds. */
  startRound(): void;
  /** Returns true if no outcome of this round is unknown. */
  isComplete(): boolean;
}

export interface GuardedReadsOptions {
  readonly log: Pick<Logger, 'warn'>;
  /** Reports a missing right to users. */
  readonly onMissingRight: (message: string) => void;
  /** Returns true for an expected failure, which is not logged. */
  readonly isExpected: (error: unknown) => boolean;
}

/** Reports each problem once, until the object is readable again. */
export function createGuardedReads(options: GuardedReadsOptions): GuardedReads {
  const { log, onMissingRight, isExpected } = options;
  /** Last reported text by name. */
  const problems = new Map<string, string>();
  let isComplete = true;

  function report(of: Guarded, error: unknown): void {
    const text = problemText(of, error as Error);
    if (problems.get(of.name) === text) return;
    problems.set(of.name, text);
    if (isForbidden(error)) {
      log.warn({ reason: 'RightsMissing', source: of.name }, text);
      onMissingRight(text);
    } else log.warn({ err: error, source: of.name }, text);
  }

  return {
    async attempt(of, work, signal) {
      try {
        const value = await work();
        problems.delete(of.name);
        return { value };
      } catch (error) {
        signal.throwIfAborted();
        if (!isExpected(error)) report(of, error);
        const isUnknown = !isForbidden(error) && !(error instanceof UnreadableSource);
        isComplete &&= !isUnknown;
        return { isUnknown };
      }
    },
    startRound() {
      isComplete = true;
    },
    isComplete: () => isComplete,
  };
}

/** Returns source, cause, cost and next step. */
function problemText({ name, right, lack, instead }: Guarded, error: Error): string {
  const or = instead ? `, or ${instead}` : '';
  if (isForbidden(error)) return `${name}: missing right: ${right}; ${lack}; grant the right${or}`;
  const cause = `${name}: ${error.message}; ${lack}`;
  if (error instanceof UnreadableSource) return `${cause}; correct ${name}${or}`;
  return `${cause}; the controller tries again${instead ? `, ${instead} if this lasts` : ''}`;
}
