import type { Wording } from '../api/reasons/reason-row.ts';

/** Steps from Neutron to the boot files, in order. */
export const stepNames = [
  'Neutron',
  'Selection',
  'Filter',
  'Assignment',
  'Delivery',
  'Acceptance',
  'Agent',
  'Kernel',
  'BootFiles',
  'Environment',
] as const;

export type StepName = (typeof stepNames)[number];

/** `skipped`: a fact is missing. `notReached`: an earlier step failed. */
export type StepResult = 'ok' | 'warn' | 'fail' | 'skipped' | 'notReached';

/** What a user does next. */
export interface NextStep {
  readonly text: Wording;
  /** Shell commands, complete and in order; empty: none exists. */
  readonly commands: readonly string[];
  /** Commands that show the effect of `commands` first, such as a what-if; empty: none. */
  readonly preview: readonly string[];
}

/** Result of one step for one port. */
export interface Step {
  readonly name: StepName;
  readonly result: StepResult;
  /** Reason from the table of reasons; undefined: `ok` or `notReached`. */
  readonly reason: string | undefined;
  /** What was read, with values, in English and Korean; for `skipped`: what is missing. */
  readonly evidence: Wording;
  readonly next: NextStep | undefined;
}
