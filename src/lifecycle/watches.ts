import { labels, managedObjects } from '../api/names.ts';
import type { Reflector } from '../kube/cache/reflector.ts';
import type { Store } from '../kube/cache/store.ts';
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
import { createWatch, type WatchContext } from '../runtime/watch.ts';
import { multiNicOperators } from './model/multinicoperator.ts';
import type { Stores } from './objects/stores.ts';

export interface WatchesOptions extends WatchContext {
  readonly namespace: string;
  readonly stores: Stores;
}

function named(name: string) {
  return { fieldSelector: `metadata.name=${name}` };
}

/** Creates watches on MultiNicOperators, labelled objects, and single objects by name. */
export function createWatches({ namespace, stores, ...context }: WatchesOptions): Reflector[] {
  type Scope = Partial<Omit<Parameters<typeof createWatch>[0], 'resource' | 'store' | 'transform'>>;
  const mirror = <T extends KubeObject>(resource: Resource<T>, store: Store<T>, scope: Scope) =>
    createWatch({ resource, store, ...scope }, context);

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
