import { refusalReason } from '../api/job.ts';
import type { metricTable } from '../api/metrics.ts';
import type { Store } from '../kube/cache/store.ts';
import type { Metrics } from '../process/metrics.ts';
import type { NodeConfig } from './node-config.ts';
import type { Verdict } from './runner.ts';

export type ControllerMetrics = Pick<Metrics<typeof metricTable>, 'count' | 'set' | 'observe'>;

/** Name of this controller in metrics that all controllers share. */
export const controllerName = 'node-config';

/** What `multinic_job_results_total` calls an ending. */
export function outcomeLabel(verdict: Verdict): string {
  if (verdict.kind === 'result') return verdict.result.outcome;
  return refusalReason.safeParse(verdict.reason).success ? 'refused' : verdict.reason;
}

const states = ['Pending', 'InProgress', 'Configured', 'Failed'] as const;

/** Keeps the gauges of objects and NICs by state; returns what ends it. */
export function gaugeStates(configs: Store<NodeConfig>, metrics: ControllerMetrics): () => void {
  const objects = new Map<string, number>(states.map((state) => [state, 0]));
  const nics = new Map<string, number>(states.map((state) => [state, 0]));

  function add({ status }: NodeConfig, by: number): void {
    bump(objects, status?.state ?? 'Pending', by);
    for (const nic of status?.interfaceStatuses ?? []) bump(nics, nic.status ?? 'Pending', by);
  }

  function show(): void {
    for (const [state, count] of objects) metrics.set('multinic_node_configs', { state }, count);
    for (const [state, count] of nics) metrics.set('multinic_interfaces', { state }, count);
  }

  for (const config of configs.list()) add(config, 1);
  show();
  return configs.subscribe((change) => {
    if (change.type === 'updated') add(change.previous, -1);
    add(change.object, change.type === 'deleted' ? -1 : 1);
    show();
  });
}

/** States that are not ours (another controller's) are counted as none of them. */
function bump(counts: Map<string, number>, state: string, by: number): void {
  const before = counts.get(state);
  if (before !== undefined) counts.set(state, before + by);
}
