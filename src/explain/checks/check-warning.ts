import type { Wording } from '../../api/texts/text.ts';
import type { NextStep } from '../step.ts';

/** Condition around a NIC with a risk for traffic. */
export interface CheckWarning {
  readonly reason: string;
  readonly evidence: Wording;
  readonly next: NextStep;
}
