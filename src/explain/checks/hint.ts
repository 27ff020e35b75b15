import type { Wording } from '../../api/reasons/reason-row.ts';
import type { NextStep } from '../step.ts';

/** Something around a NIC that may harm its traffic. */
export interface Hint {
  readonly reason: string;
  readonly evidence: Wording;
  readonly next: NextStep;
}
