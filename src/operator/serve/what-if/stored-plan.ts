import type { Plan } from '../../../plan/plan.ts';
import type { TermMemory } from '../../model/memory/config-memory.ts';
import { Slot } from '../../model/memory/slot.ts';
import type { PackedVerdicts } from '../../model/packing/verdicts.ts';

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

/** Plan for GET /v1/plan; undefined: no full sync has planned in this term. */
export const lastPlan = new Slot<TermMemory, StoredPlan | undefined>(() => undefined);
