import type { KubeClient } from '../../../kube/client/client.ts';
import { crds, namespaces } from '../../../kube/core-resources.ts';
import { isForbidden } from '../../../kube/errors.ts';
import type { ConfigObject } from '../../model/openstack-config.ts';
import { StepFailure } from '../../model/step-failure.ts';
import { nextSteps } from './next-steps.ts';

interface OwnersDeps {
  readonly client: Pick<KubeClient, 'find'>;
  /** Name of the CRD; undefined: the operator may not read CRDs. */
  readonly definition: string | undefined;
}

/**
 * Returns the deleted namespace or CRD that also deletes the object; undefined: both stay. Throws StepFailure without
 * the right to read both.
 */
export async function endingOwner(
  object: ConfigObject,
  { client, definition }: OwnersDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { namespace = '' } = object.metadata;
  const namespaceState = await orUnknown(`namespace ${namespace}`, object, async () =>
    stateOf(await client.find(namespaces, { name: namespace }, { signal })),
  );
  if (namespaceState !== undefined || definition === undefined) return namespaceState;
  return orUnknown(`the CRD ${definition}`, object, async () =>
    stateOf(await client.find(crds, { name: definition }, { signal })),
  );
}

async function orUnknown(
  what: string,
  object: ConfigObject,
  read: () => Promise<string | undefined>,
): Promise<string | undefined> {
  try {
    const state = await read();
    return state === undefined ? undefined : `${what} ${state}`;
  } catch (error) {
    throw isForbidden(error) ? unknown(what, error, object) : error;
  }
}

function stateOf(found: Pick<ConfigObject, 'metadata'> | undefined): string | undefined {
  if (found === undefined) return 'no longer exists';
  return found.metadata.deletionTimestamp === undefined ? undefined : 'is being deleted';
}

function unknown(what: string, cause: Error, object: ConfigObject): StepFailure {
  const why = `the deletion of ${what} cannot be checked, so no NIC is removed: ${cause.message}`;
  const message = `${why}; to check it, grant the operator "get" on ${what}; ${nextSteps(object)}`;
  return new StepFailure({ reason: 'Error', message }, { cause });
}
