import type { ControllerReport } from '../reports.ts';
import { type Observed, type StagePlan, unchanged } from '../stage.ts';

/** Deployment, Services and PodDisruptionBudget of the operator: the chart's rendering with what the spec changes. */
export function controller(_observed: Observed): StagePlan<ControllerReport> {
  return unchanged([], {});
}
