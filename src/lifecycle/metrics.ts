import { findCondition } from '../api/condition.ts';
import type { metricTable } from '../api/metrics.ts';
import type { MultiNicOperatorStatus } from '../api/multinicoperator.ts';
import { labels } from '../api/names.ts';
import { reasons } from '../api/reasons.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Metrics } from '../process/metrics.ts';
import { type OperatorObject, statusOf } from './model/multinicoperator.ts';
import type { Stores } from './objects/stores.ts';

/** Exports metrics for MultiNicOperators by status and for watched objects, sampled on each scrape. */
export function sampleOperators(
  metrics: Pick<Metrics<typeof metricTable>, 'sampleEach'>,
  stores: Stores,
): void {
  const operators = (): readonly OperatorObject[] => stores.operators.list();
  metrics.sampleEach('multinic_operator_not_running', () => operators().flatMap(notRunning));
  metrics.sampleEach('multinic_operator_contested', () =>
    operators().map((operator) => ({
      labels: { operator: operator.metadata.name },
      value: isTrue(statusOf(operator), 'Contested') ? 1 : 0,
    })),
  );
  metrics.sampleEach('multinic_component_status', () => operators().flatMap(components));
  metrics.sampleEach('multinic_operator_managed_resources_count', () =>
    managed(stores).map(([kind, store]) => ({
      labels: { kind },
      value: store.list().filter(isManaged).length,
    })),
  );
}

function isTrue({ conditions }: MultiNicOperatorStatus, type: string): boolean {
  return findCondition(conditions, type)?.status === 'True';
}

function notRunning(operator: OperatorObject) {
  const { phase, conditions } = statusOf(operator);
  if (phase === 'Running') return [];
  const { reason = '' } = findCondition(conditions, 'Ready') ?? {};
  // Any client may write any reason into a status.
  const known = Object.hasOwn(reasons, reason) ? reason : 'Other';
  return [{ labels: { operator: operator.metadata.name, reason: known }, value: 1 }];
}

function isWanted(phase: string | undefined): boolean {
  return phase !== undefined && phase !== 'Disabled' && phase !== 'External';
}

function components(operator: OperatorObject) {
  const { namespace = '', name } = operator.metadata;
  const status = statusOf(operator);
  const phases = {
    controller: status.controllerStatus?.phase,
    database: status.databaseStatus?.phase,
  };
  const found = Object.entries(phases)
    .filter(([, phase]) => isWanted(phase))
    .map(([component, phase]) => [component, phase === 'Ready'] as const);
  const { active } = status.protectionStatus ?? {};
  const protection = active === undefined ? [] : [['protection', active] as const];
  return [...found, ...protection].map(([component, isReady]) => ({
    labels: { component, namespace, operator: name },
    value: isReady ? 1 : 0,
  }));
}

interface Listed {
  list(): readonly KubeObject[];
}

function managed(stores: Stores): readonly (readonly [string, Listed])[] {
  return [
    ['Deployment', stores.deployments],
    ['StatefulSet', stores.statefulSets],
    ['Service', stores.services],
    ['PersistentVolumeClaim', stores.claims],
    ['CronJob', stores.cronJobs],
    ['PodDisruptionBudget', stores.disruptionBudgets],
    ['ConfigMap', stores.configMaps],
    ['Secret', stores.credentials],
    ['ValidatingWebhookConfiguration', stores.webhookConfigurations],
  ];
}

function isManaged({ metadata }: KubeObject): boolean {
  return metadata.labels?.[labels.managedByOperator] !== undefined;
}
