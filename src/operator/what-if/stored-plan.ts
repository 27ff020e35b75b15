import type { Plan } from '../../plan/plan.ts';
import type { PackedVerdicts } from '../packing/verdicts.ts';

/** Last full sync's plan in little memory: as objects, a thousand servers would take megabytes. */
export interface StoredPlan {
  readonly providerId: string;
  readonly calculatedAt: Date;
  readonly generation: number;
  /** JSON without the verdicts. */
  readonly json: Buffer;
  readonly verdicts: PackedVerdicts;
  /** Identity, to keep JSON and verdicts while the plan is unchanged. */
  readonly of: WeakRef<Plan>;
}
