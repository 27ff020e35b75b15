import type { Wording } from '../../api/texts/text.ts';
import { type Missing, missingText } from '../fact.ts';
import type { NextStep, Step } from '../step.ts';
import { same } from '../wording.ts';

/** Step result without the name. */
export type Outcome = Omit<Step, 'name'>;

export function ok(evidence: Wording): Outcome {
  return { result: 'ok', reason: undefined, evidence, next: undefined };
}

export function fail(reason: string, evidence: Wording, next: NextStep | undefined): Outcome {
  return { result: 'fail', reason, evidence, next };
}

export function warn(reason: string, evidence: Wording, next: NextStep | undefined): Outcome {
  return { result: 'warn', reason, evidence, next };
}

/** Step for a port without NIC, as intended: no next step. */
export function info(reason: string, evidence: Wording): Outcome {
  return { result: 'info', reason, evidence, next: undefined };
}

/** Step with an unread fact. */
export function skipped(missing: Missing): Outcome {
  return skippedFor(missingText(missing), [missing]);
}

/** Step with several unread facts. */
export function skippedFor(evidence: Wording, missing: readonly [Missing, ...Missing[]]): Outcome {
  const [{ next }] = missing;
  return {
    result: 'skipped',
    reason: undefined,
    evidence,
    next: next.en === '' ? undefined : { text: next, commands: [], preview: [] },
    missing,
  };
}

export const notReached: Outcome = {
  result: 'notReached',
  reason: undefined,
  evidence: same(''),
  next: undefined,
};

/** Step without a result, because an earlier step has none. */
export function unknown(evidence: Wording): Outcome {
  return { result: 'skipped', reason: undefined, evidence, next: undefined };
}
