import { Store } from '../../kube/cache/store.ts';
import {
  type ConfigMap,
  type CronJob,
  claims,
  configMaps,
  cronJobs,
  type Deployment,
  deployments,
  disruptionBudgets,
  type Job,
  jobs,
  type Namespace,
  type PersistentVolumeClaim,
  type Pod,
  type PodDisruptionBudget,
  type Secret,
  type Service,
  type StatefulSet,
  secrets,
  services,
  statefulSets,
  type ValidatingWebhookConfiguration,
  validatingWebhookConfigurations,
} from '../../kube/core-resources.ts';
import { type KubeObject, keyOf } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import type { OperatorObject } from '../model/multinicoperator.ts';
import type { LiveObjects } from '../model/stage.ts';

/** Creates stores for everything lifecycle watches. */
export function createStores(namespace: string) {
  const managed = {
    deployments: new Store<Deployment>(),
    statefulSets: new Store<StatefulSet>(),
    services: new Store<Service>(),
    claims: new Store<PersistentVolumeClaim>(),
    cronJobs: new Store<CronJob>(),
    jobs: new Store<Job>(),
    disruptionBudgets: new Store<PodDisruptionBudget>(),
    configMaps: new Store<ConfigMap>(),
    webhookConfigurations: new Store<ValidatingWebhookConfiguration>(),
    credentials: new Store<Secret>(),
  };
  const byKind = new Map<string, readonly Store<never>[]>([
    [deployments.kind, [managed.deployments]],
    [statefulSets.kind, [managed.statefulSets]],
    [services.kind, [managed.services]],
    [claims.kind, [managed.claims]],
    [cronJobs.kind, [managed.cronJobs]],
    [jobs.kind, [managed.jobs]],
    [disruptionBudgets.kind, [managed.disruptionBudgets]],
    [configMaps.kind, [managed.configMaps]],
    [validatingWebhookConfigurations.kind, [managed.webhookConfigurations]],
    [secrets.kind, [managed.credentials]],
  ] as unknown as readonly (readonly [string, readonly Store<never>[]])[]);
  const live: LiveObjects = {
    find<T extends KubeObject>({ kind, namespaced }: Resource<T>, name: string): T | undefined {
      const key = keyOf(namespaced ? { namespace, name } : { name });
      for (const store of byKind.get(kind) ?? []) {
        const found = store.get(key) as T | undefined;
        if (found) return found;
      }
      return undefined;
    },
  };
  return {
    ...managed,
    operators: new Store<OperatorObject>(),
    /** The operator manifests rendered by the chart. */
    base: new Store<ConfigMap>(),
    pods: new Store<Pod>(),
    /** Lifecycle's own namespace. */
    namespaces: new Store<Namespace>(),
    live,
  };
}

export type Stores = ReturnType<typeof createStores>;
