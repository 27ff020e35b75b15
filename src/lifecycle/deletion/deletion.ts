import type { Effect } from '../../api/effects.ts';
import { fieldManagers, finalizers, labels, managedObjects } from '../../api/names.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import {
  configMaps,
  cronJobs,
  deployments,
  disruptionBudgets,
  jobs,
  namespaces,
  services,
  statefulSets,
  validatingWebhookConfigurations,
} from '../../kube/core-resources.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeObject, ObjectRef } from '../../kube/object.ts';
import type { Outcome as Requeue } from '../../kube/reconcile/controller.ts';
import type { Resource } from '../../kube/resource.ts';
import type { Perform } from '../../process/effects.ts';
import { multiNicOperators, type OperatorObject } from '../model/multinicoperator.ts';
import type { Applier } from '../objects/applier.ts';
import type { Stores } from '../objects/stores.ts';

export interface Deletion {
  /** Adds the finalizer. */
  addFinalizer(operator: OperatorObject, signal: AbortSignal): Promise<void>;
  /** Deletes owned objects, then removes the finalizer. */
  finish(operator: OperatorObject, signal: AbortSignal): Promise<Requeue>;
  /**
   * Deletes the webhook configuration of a MultiNicOperator deleted without lifecycle, for example by a user's edit of
   * its finalizers.
   */
  clean(ref: ObjectRef, signal: AbortSignal): Promise<void>;
  /**
   * Reads the namespace again; if in deletion, releases every MultiNicOperator in the namespace. Call at process end.
   */
  releaseAtExit(signal: AbortSignal): Promise<void>;
}

export interface DeletionDeps {
  readonly client: Pick<KubeClient, 'patch' | 'find' | 'listAll'>;
  readonly applier: Pick<Applier, 'remove'>;
  readonly stores: Stores;
  readonly namespace: string;
  readonly perform: Perform<Effect>;
}

export function createDeletion(deps: DeletionDeps): Deletion {
  const { client, applier, stores, namespace, perform } = deps;

  async function write(
    { metadata }: OperatorObject,
    list: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const { namespace: own = '', name, resourceVersion } = metadata;
    const patch = { metadata: { resourceVersion, finalizers: list } };
    const options = { fieldManager: fieldManagers.lifecycle, signal };
    await client.patch(multiNicOperators, { namespace: own, name }, patch, options);
  }

  /** Claims, passwords and backups stay, because they cannot be recreated. */
  function managedKinds(): readonly (readonly [Resource<KubeObject>, readonly KubeObject[]])[] {
    return [
      [deployments, stores.deployments.list()],
      [statefulSets, stores.statefulSets.list()],
      [cronJobs, stores.cronJobs.list()],
      [jobs, stores.jobs.list()],
      [services, stores.services.list()],
      [disruptionBudgets, stores.disruptionBudgets.list()],
      [configMaps, stores.configMaps.list()],
    ];
  }

  async function removeManaged(operator: OperatorObject, signal: AbortSignal): Promise<void> {
    for (const [resource, objects] of managedKinds()) {
      for (const { metadata } of objects.filter((one) => isOf(operator, one))) {
        const { name, deletionTimestamp } = metadata;
        if (deletionTimestamp !== undefined) continue;
        await applier.remove({ resource, ref: { namespace, name } }, signal);
      }
    }
  }

  /** Must come first: the configuration would refuse a user's clean-up, and outlive its webhook. */
  async function removeConfiguration(operator: KubeObject, signal: AbortSignal): Promise<void> {
    const ref = { name: managedObjects.protection };
    const found = await client.find(validatingWebhookConfigurations, ref, { signal });
    if (!found || !isOf(operator, found)) return;
    await applier.remove({ resource: validatingWebhookConfigurations, ref }, signal);
  }

  async function release(operator: OperatorObject, signal: AbortSignal): Promise<void> {
    const { finalizers: present = [] } = operator.metadata;
    if (!present.includes(finalizers.multiNicOperator)) return;
    const others = present.filter((one) => one !== finalizers.multiNicOperator);
    await perform('lifecycle.finalizer.remove', async () => {
      try {
        await write(operator, others, signal);
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    });
  }

  return {
    async addFinalizer(operator, signal) {
      const { finalizers: present = [] } = operator.metadata;
      if (present.includes(finalizers.multiNicOperator)) return;
      await perform('lifecycle.finalizer.add', () =>
        write(operator, [...present, finalizers.multiNicOperator], signal),
      );
    },

    async finish(operator, signal) {
      const { metadata } = operator;
      // A MultiNicOperator in another namespace, with the legacy finalizer of the same name, owns nothing here.
      if (metadata.namespace === namespace) {
        await removeConfiguration(operator, signal);
        // In a terminating namespace the namespace controller deletes the objects.
        if (metadata.deletionTimestamp !== undefined) await removeManaged(operator, signal);
      }
      await release(operator, signal);
      return {};
    },

    async clean(ref, signal) {
      if (ref.namespace !== namespace) return;
      const found = await client.find(multiNicOperators, ref, { signal });
      if (!found) await removeConfiguration({ metadata: ref }, signal);
    },

    async releaseAtExit(signal) {
      const own = await client.find(namespaces, { name: namespace }, { signal });
      if (own?.metadata.deletionTimestamp === undefined) return;
      const { items } = await client.listAll(multiNicOperators, { namespace, signal });
      for (const operator of items) {
        await removeConfiguration(operator, signal);
        await release(operator, signal);
      }
    },
  };
}

function isOf({ metadata }: KubeObject, object: KubeObject): boolean {
  return object.metadata.labels?.[labels.managedByOperator] === metadata.name;
}
