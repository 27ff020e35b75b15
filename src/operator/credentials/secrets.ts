import type { KubeClient } from '../../kube/client/client.ts';
import { secrets } from '../../kube/core-resources.ts';
import { isForbidden, isNotFound, KubeError } from '../../kube/errors.ts';
import { operatorRights } from '../rights.ts';
import { StepFailure } from '../status/step-failure.ts';

/** The values of a Secret by key; undefined when there is none. Throws StepFailure when that cannot be told. */
export async function readSecret(
  client: Pick<KubeClient, 'find'>,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string> | undefined> {
  try {
    const secret = await client.find(secrets, { namespace, name }, { signal });
    if (!secret) return undefined;
    const entries = Object.entries(secret.data ?? {});
    return new Map(entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
  } catch (error) {
    signal.throwIfAborted();
    if (isNotFound(error)) return undefined;
    if (!(error instanceof KubeError)) throw error;
    const fix = isForbidden(error)
      ? `; let the operator read Secrets of ${namespace} (secretNamespaces, Role ${operatorRights.roles.secrets})`
      : '';
    const message = `Secret ${namespace}/${name} cannot be read: ${error.message}${fix}`;
    // Falling back to another key would hide that the right one could not be read.
    throw new StepFailure({ reason: 'ConfigError', message }, { cause: error });
  }
}

export function configError(message: string): StepFailure {
  return new StepFailure({ reason: 'ConfigError', message });
}
