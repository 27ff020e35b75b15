import type { Effect } from '../../api/effects.ts';
import { fieldManagers, finalizers } from '../../api/names.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { Outcome as Requeue } from '../../kube/reconcile/controller.ts';
import type { Perform } from '../../process/effects.ts';
import { multiNicOperators, type OperatorObject } from '../multinicoperator.ts';
import type { Applier } from '../objects/applier.ts';
import type { Stores } from '../objects/stores.ts';

export interface Deletion {
  /** Adds the finalizer. */
  hold(operator: OperatorObject, signal: AbortSignal): Promise<void>;
  /** Removes what goes with the object, then the finalizer. */
  finish(operator: OperatorObject, signal: AbortSignal): Promise<Requeue>;
}

export interface DeletionDeps {
  readonly client: Pick<KubeClient, 'patch'>;
  readonly applier: Applier;
  readonly stores: Stores;
  readonly namespace: string;
  readonly perform: Perform<Effect>;
}

export function createDeletion({ client, perform }: DeletionDeps): Deletion {
  async function write(
    { metadata }: OperatorObject,
    list: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const { namespace = '', name, resourceVersion } = metadata;
    const patch = { metadata: { resourceVersion, finalizers: list } };
    const options = { fieldManager: fieldManagers.lifecycle, signal };
    await client.patch(multiNicOperators, { namespace, name }, patch, options);
  }

  return {
    async hold(operator, signal) {
      const { finalizers: present = [] } = operator.metadata;
      if (present.includes(finalizers.multiNicOperator)) return;
      await perform('lifecycle.finalizer.add', () =>
        write(operator, [...present, finalizers.multiNicOperator], signal),
      );
    },
    async finish(operator, signal) {
      const { finalizers: present = [] } = operator.metadata;
      if (!present.includes(finalizers.multiNicOperator)) return {};
      const others = present.filter((one) => one !== finalizers.multiNicOperator);
      await perform('lifecycle.finalizer.remove', async () => {
        try {
          await write(operator, others, signal);
        } catch (error) {
          if (!isNotFound(error)) throw error;
        }
      });
      return {};
    },
  };
}
