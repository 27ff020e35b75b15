import type { metricTable } from '../api/metrics.ts';
import { labels, managedObjects } from '../api/names.ts';
import { createReflector, type Reflector } from '../kube/cache/reflector.ts';
import type { Store } from '../kube/cache/store.ts';
import type { KubeClient } from '../kube/client/client.ts';
import {
  claims,
  configMaps,
  cronJobs,
  deployments,
  disruptionBudgets,
  jobs,
  namespaces,
  pods,
  secrets,
  services,
  statefulSets,
  validatingWebhookConfigurations,
} from '../kube/core-resources.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Resource } from '../kube/resource.ts';
import { countSteps } from '../kube-metrics.ts';
import type { PartContext } from '../process/part.ts';
import { multiNicOperators } from './model/multinicoperator.ts';
import type { Stores } from './objects/stores.ts';

export interface WatchesOptions {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly context: Pick<PartContext<typeof metricTable>, 'clock' | 'random' | 'log' | 'metrics'>;
  readonly namespace: string;
  readonly stores: Stores;
}

interface Scope {
  /** Name to distinguish several watches for one kind. */
  readonly name?: string;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly keepsManagedFields?: boolean;
}

function named(name: string) {
  return { fieldSelector: `metadata.name=${name}` };
}

/** Creates watches on MultiNicOperators, labelled objects, and single objects by name. */
export function createWatches({ client, context, namespace, stores }: WatchesOptions): Reflector[] {
  const { clock, random, log, metrics } = context;

  function mirror<T extends KubeObject>(resource: Resource<T>, store: Store<T>, scope: Scope) {
    const name = scope.name ?? resource.kind;
    const onError = (error: unknown, retryInMs: number): void =>
      log.warn({ err: error, kind: name, retryInMs }, 'watch interrupted');
    const onStep = countSteps(metrics, name);
    return createReflector({ client, resource, store, clock, random, onError, onStep, ...scope });
  }

  const protectedOnes = {
    namespace,
    labelSelector: `${labels.protected}=true`,
    keepsManagedFields: true,
  };
  const ofOperator = { namespace, labelSelector: labels.managedByOperator };
  return [
    mirror(multiNicOperators, stores.operators, {}),
    mirror(namespaces, stores.namespaces, named(namespace)),
    mirror(configMaps, stores.base, {
      name: 'ControllerBase',
      namespace,
      ...named(managedObjects.controllerBase),
    }),
    mirror(secrets, stores.credentials, {
      namespace,
      ...named(managedObjects.credentials),
      keepsManagedFields: true,
    }),
    mirror(deployments, stores.deployments, protectedOnes),
    mirror(statefulSets, stores.statefulSets, protectedOnes),
    mirror(services, stores.services, protectedOnes),
    mirror(claims, stores.claims, protectedOnes),
    mirror(cronJobs, stores.cronJobs, protectedOnes),
    mirror(disruptionBudgets, stores.disruptionBudgets, protectedOnes),
    mirror(configMaps, stores.configMaps, protectedOnes),
    mirror(validatingWebhookConfigurations, stores.webhookConfigurations, {
      ...named(managedObjects.protection),
      keepsManagedFields: true,
    }),
    mirror(jobs, stores.jobs, ofOperator),
    mirror(pods, stores.pods, ofOperator),
  ];
}
