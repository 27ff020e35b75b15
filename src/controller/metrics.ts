import type { metricTable } from '../api/metrics.ts';
import { nodeConfigState } from '../api/multinicnodeconfig.ts';
import type { Store } from '../kube/cache/store.ts';
import type { Metrics } from '../process/metrics.ts';
import type { Runner } from './jobs/runner.ts';
import type { NodeConfig } from './objects/stores.ts';
import type { Budget } from './removals/budget.ts';
import type { RemovalLedger } from './removals/ledger.ts';
import type { Rollout } from './scheduling/rollout-budget.ts';
import { rolloutStates } from './scheduling/rollout-node.ts';
import { isDrifted } from './status/conditions.ts';
import { whyNotReady } from './status/not-ready.ts';

const states = nodeConfigState.options;

/** Reports objects and NICs by state and reason. */
export function sampleStates(configs: Store<NodeConfig>, metrics: SampledMetrics): void {
  const objects = new Map<string, number>(states.map((state) => [state, 0]));
  const nics = new Map<string, number>(states.map((state) => [state, 0]));
  const notReady = new Map<string, number>();
  let drifted = 0;

  function add({ status }: NodeConfig, by: number): void {
    bump(objects, status?.state ?? 'Pending', by);
    for (const nic of status?.interfaceStatuses ?? []) bump(nics, nic.status ?? 'Pending', by);
    const reason = whyNotReady(status);
    if (reason) notReady.set(reason, (notReady.get(reason) ?? 0) + by);
    if (isDrifted(status)) drifted += by;
  }

  for (const config of configs.list()) add(config, 1);
  configs.subscribe((change) => {
    if (change.type === 'updated') add(change.previous, -1);
    add(change.object, change.type === 'deleted' ? -1 : 1);
  });
  metrics.sampleEach('multinic_node_configs', () => byState(objects));
  metrics.sampleEach('multinic_interfaces', () => byState(nics));
  metrics.sample('multinic_node_configs_drifted', {}, () => drifted);
  metrics.sampleEach('multinic_node_configs_not_ready', () =>
    [...notReady].map(([reason, value]) => ({ labels: { reason }, value })),
  );
}

function byState(counts: ReadonlyMap<string, number>) {
  return [...counts].map(([state, value]) => ({ labels: { state }, value }));
}

interface Sampled {
  readonly configs: Store<NodeConfig>;
  readonly rollout: Pick<Rollout, 'count'>;
  readonly budget: Pick<Budget, 'clusterUse'>;
  readonly ledger: Pick<RemovalLedger, 'entries'>;
  readonly runner: Pick<Runner, 'open'>;
}

/** Reports objects, rollout, removals and running Jobs. */
export function sampleController(metrics: Metrics<typeof metricTable>, sampled: Sampled): void {
  const { configs, rollout, budget, ledger, runner } = sampled;
  sampleStates(configs, metrics);
  sampleRollout(metrics, rollout);
  sampleRemovals(metrics, budget, ledger);
  metrics.sample('multinic_jobs_active', {}, () => runner.open().length);
}

type SampledMetrics = Pick<Metrics<typeof metricTable>, 'sample' | 'sampleEach'>;

/** Reports the number of nodes in each state of a rollout. */
function sampleRollout(metrics: SampledMetrics, rollout: Pick<Rollout, 'count'>): void {
  for (const state of rolloutStates) {
    metrics.sample('multinic_rollout_nodes', { state }, () => rollout.count(state));
  }
}

/** Reports the use of the cluster's budgets for removals. */
function sampleRemovals(
  metrics: SampledMetrics,
  budget: Pick<Budget, 'clusterUse'>,
  ledger: Pick<RemovalLedger, 'entries'>,
): void {
  for (const scope of ['clusterNodes', 'clusterNics'] as const) {
    metrics.sample(
      'multinic_removal_budget_used',
      { scope },
      () => budget.clusterUse(ledger.entries()).find((use) => use.scope === scope)?.used ?? 0,
    );
  }
}

/** Ignores unknown states, which another controller may have written. */
function bump(counts: Map<string, number>, state: string, by: number): void {
  const before = counts.get(state);
  if (before !== undefined) counts.set(state, before + by);
}
