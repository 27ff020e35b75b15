import type { Wording } from '../../api/reasons/reason-row.ts';
import type { Fact } from '../fact.ts';
import type { NextStep, Step } from '../step.ts';
import { say } from '../wording.ts';

/** Result of one step, without its name. */
export type Outcome = Omit<Step, 'name'>;

export type Unread = Extract<Fact<unknown>, { readonly state: 'unread' }>;

export function ok(evidence: Wording): Outcome {
  return { result: 'ok', reason: undefined, evidence, next: undefined };
}

export function fail(reason: string, evidence: Wording, next: NextStep | undefined): Outcome {
  return { result: 'fail', reason, evidence, next };
}

export function warn(reason: string, evidence: Wording, next: NextStep | undefined): Outcome {
  return { result: 'warn', reason, evidence, next };
}

/** A step whose fact was not read. */
export function skipped({ missing, next }: Pick<Unread, 'missing' | 'next'>): Outcome {
  const text = say(next, next);
  return {
    result: 'skipped',
    reason: undefined,
    evidence: say(missing, missing),
    next: next === '' ? undefined : { text, commands: [], preview: [] },
  };
}

export const notReached: Outcome = {
  result: 'notReached',
  reason: undefined,
  evidence: say('', ''),
  next: undefined,
};

/** A step that an earlier step without a result leaves open. */
export function unknown(en: string, ko: string): Outcome {
  return { result: 'skipped', reason: undefined, evidence: say(en, ko), next: undefined };
}
