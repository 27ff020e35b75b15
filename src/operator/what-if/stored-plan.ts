import type { Plan } from '../../plan/plan.ts';

/**
 * Last full sync's plan, as JSON: a thousand servers take about 400 kB outside the heap, instead of megabytes as
 * objects.
 */
export interface StoredPlan {
  readonly providerId: string;
  readonly calculatedAt: Date;
  readonly generation: number;
  readonly json: Buffer;
  /** Identity, to keep the JSON while the plan is unchanged. */
  readonly of: WeakRef<Plan>;
}
