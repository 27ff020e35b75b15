import type { MultiNicOperatorStatus } from '../../api/multinicoperator.ts';
import { labels, managedObjects } from '../../api/names.ts';
import { isOlder } from '../../kube/cache/resource-version.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import {
  claims,
  configMaps,
  cronJobs,
  type Deployment,
  deployments,
  type Pod,
  pods,
  secrets,
  services,
  statefulSets,
  validatingWebhookConfigurations,
} from '../../kube/core-resources.ts';
import { type KubeObject, keyOf, refOf } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import type { Clock } from '../../time/clock.ts';
import type { Accepted, Problem } from '../model/accepted.ts';
import { databasePodName } from '../model/mariadb/names.ts';
import { type OperatorObject, statusOf } from '../model/multinicoperator.ts';
import type { LiveObjects, Observed } from '../model/stage.ts';
import { whyNotOurs } from '../stages/accept/one-per-cluster.ts';
import { replacesPasswords } from '../stages/credentials/credentials.ts';
import type { Stores } from './stores.ts';

/** Observed state of a MultiNicOperator. */
export type Observation =
  | { readonly what: 'gone' }
  | { readonly what: 'leaving'; readonly operator: OperatorObject }
  | { readonly what: 'refused'; readonly operator: OperatorObject; readonly problem: Problem }
  | { readonly what: 'wanted'; readonly observed: Observed };

type Accept = (operator: OperatorObject, now: Date) => Accepted;
export type Observe = (key: string, accept: Accept, signal: AbortSignal) => Promise<Observation>;

export interface ObserveDeps {
  readonly client: Pick<KubeClient, 'find' | 'listAll'>;
  readonly stores: Stores;
  readonly namespace: string;
  readonly kubernetesMinor: number;
  readonly clock: Clock;
}

/** Names under which foreign objects may exist: without our labels no watch shows them. */
const taken: readonly (readonly [Resource<KubeObject>, string])[] = [
  [deployments, managedObjects.controller],
  [deployments, managedObjects.legacyController],
  [statefulSets, managedObjects.database],
  [services, managedObjects.database],
  [claims, managedObjects.databaseClaim],
  [claims, managedObjects.backup],
  [cronJobs, managedObjects.backup],
  [secrets, managedObjects.credentials],
  [configMaps, 'multinic-operator-triggers'],
  [validatingWebhookConfigurations, managedObjects.protection],
];

export function createObserve(deps: ObserveDeps): Observe {
  const { client, stores, namespace, kubernetesMinor, clock } = deps;

  /**
   * Returns objects from the watches, plus API server reads for names missing there and for a Secret about to change.
   */
  async function liveObjects(operator: OperatorObject, signal: AbortSignal): Promise<LiveObjects> {
    const secret = stores.live.find(secrets, managedObjects.credentials);
    const isUncertain = secret !== undefined && replacesPasswords(operator, secret);
    const wanted = taken.filter(
      ([resource, name]) =>
        !stores.live.find(resource, name) || (isUncertain && resource.kind === secrets.kind),
    );
    const read = await Promise.all(
      wanted.map(async ([resource, name]) => {
        const ref = resource.namespaced ? { namespace, name } : { name };
        return [`${resource.kind} ${name}`, await client.find(resource, ref, { signal })] as const;
      }),
    );
    const others = new Map(read);
    return {
      find<T extends KubeObject>(resource: Resource<T>, name: string): T | undefined {
        const other = others.get(`${resource.kind} ${name}`) as T | undefined;
        const watched = stores.live.find(resource, name);
        return other && watched && isBefore(watched, other) ? other : (watched ?? other);
      },
    };
  }

  /**
   * Lists legacy Pods, which no watch shows. Pods in deletion count until gone: the Deployment's status drops them
   * earlier.
   */
  async function legacyPods(objects: LiveObjects, signal: AbortSignal): Promise<readonly Pod[]> {
    const legacy = objects.find(deployments, managedObjects.legacyController);
    const { selector }: Partial<NonNullable<Deployment['spec']>> = legacy?.spec ?? {};
    const wanted = Object.entries(selector?.matchLabels ?? {});
    if (wanted.length === 0) return [];
    const labelSelector = wanted.map(([name, value]) => `${name}=${value}`).join(',');
    const { items } = await client.listAll(pods, { namespace, labelSelector, signal });
    return items.filter(({ metadata }) => !metadata.labels?.[labels.managedByOperator]);
  }

  let ending: { readonly uid: string | undefined; readonly sinceMs: number } | undefined;

  /**
   * Uses this process's clock: the API server's clock may be hours off, and a normally stopping Pod would count as
   * lost.
   */
  function databaseEndingMs(pod: Pod | undefined): number | undefined {
    if (pod?.metadata.deletionTimestamp === undefined) {
      ending = undefined;
      return undefined;
    }
    const { uid } = pod.metadata;
    if (ending === undefined || ending.uid !== uid) ending = { uid, sinceMs: clock.monotonicMs() };
    return clock.monotonicMs() - ending.sinceMs;
  }

  return async (key, accept, signal) => {
    const operator = stores.operators.get(key);
    if (!operator) return { what: 'gone' };
    const { metadata } = operator;
    const isOurNamespaceEnding =
      metadata.namespace === namespace &&
      stores.namespaces.get(namespace)?.metadata.deletionTimestamp !== undefined;
    if (metadata.deletionTimestamp || isOurNamespaceEnding) return { what: 'leaving', operator };
    const problem = whyNotOurs(operator, stores.operators.list(), namespace, kubernetesMinor);
    if (problem) return { what: 'refused', operator, problem };
    const now = clock.now();
    const objects = await liveObjects(operator, signal);
    return {
      what: 'wanted',
      observed: {
        operator,
        status: statusOf(operator) satisfies MultiNicOperatorStatus,
        accepted: accept(operator, now),
        namespace: refOf(key).namespace ?? namespace,
        objects,
        pods: stores.pods.list(),
        jobs: stores.jobs.list(),
        databaseEndingMs: databaseEndingMs(
          stores.pods.get(keyOf({ namespace, name: databasePodName })),
        ),
        base: stores.base.get(keyOf({ namespace, name: managedObjects.controllerBase })),
        legacyPods: await legacyPods(objects, signal),
        kubernetesMinor,
        now,
      },
    };
  };
}

function isBefore({ metadata: one }: KubeObject, { metadata: other }: KubeObject): boolean {
  return isOlder(one.resourceVersion ?? '', other.resourceVersion ?? '');
}
