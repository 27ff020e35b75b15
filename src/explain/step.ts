import type { StepName } from '../api/step-names.ts';
import type { Wording } from '../api/texts/text.ts';
import type { Missing } from './fact.ts';

/** `info`: not a NIC, as intended. `skipped`: a fact is missing. `notReached`: an earlier step failed. */
export type StepResult = 'ok' | 'info' | 'warn' | 'fail' | 'skipped' | 'notReached';

/** The user's next action. */
export interface NextStep {
  readonly text: Wording;
  /** Shell commands, complete and in order; empty: none exists. */
  readonly commands: readonly string[];
  /** True: the commands work only after the correction in the text. */
  readonly isAfterText?: boolean;
  /** Commands for a preview, such as a plan; empty: none. */
  readonly preview: readonly string[];
}

/** Step result for a port. */
export interface Step {
  readonly name: StepName;
  readonly result: StepResult;
  /** Reason in the reasons table; undefined: `ok` or `notReached`. */
  readonly reason: string | undefined;
  /** Facts with values, in English and Korean; for `skipped`: the missing fact. */
  readonly evidence: Wording;
  readonly next: NextStep | undefined;
  /** Unread facts behind the step; absent: none. */
  readonly missing?: readonly Missing[];
}
