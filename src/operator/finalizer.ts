import type { Effect } from '../api/effects.ts';
import { finalizers } from '../api/names.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isNotFound } from '../kube/errors.ts';
import type { Perform } from '../process/effects.ts';
import {
  type ConfigObject,
  openstackConfigs,
  withFinalizer,
  withoutFinalizer,
} from './openstack-config.ts';

interface Writer {
  readonly client: Pick<KubeClient, 'patch'>;
  readonly perform: Perform<Effect>;
}

/** Makes sure that the object cannot go before its nodes are clean; finalizers of earlier generations are replaced. */
export async function addFinalizer(
  object: ConfigObject,
  { client, perform }: Writer,
  signal: AbortSignal,
): Promise<void> {
  const wanted = withFinalizer(object);
  const present = object.metadata.finalizers ?? [];
  const complete = present.length === wanted.length && present.includes(finalizers.openstackConfig);
  if (complete) return;
  await perform('operator.finalizer.add', async () => write(object, wanted, client, signal));
}

/** Lets the object go. */
export async function removeFinalizer(
  object: ConfigObject,
  { client, perform }: Writer,
  signal: AbortSignal,
): Promise<void> {
  await perform('operator.finalizer.remove', async () => {
    try {
      await write(object, withoutFinalizer(object), client, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  });
}

/** The list is replaced as a whole, so the version that it was read at goes along. */
async function write(
  { metadata: { namespace = '', name, resourceVersion } }: ConfigObject,
  list: readonly string[],
  client: Writer['client'],
  signal: AbortSignal,
): Promise<void> {
  const patch = { metadata: { resourceVersion, finalizers: list } };
  await client.patch(openstackConfigs, { namespace, name }, patch, { signal });
}
