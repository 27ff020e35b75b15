import { isUtf8 } from 'node:buffer';
import type { KubeClient } from '../../../kube/client/client.ts';
import { secrets } from '../../../kube/core-resources.ts';
import { isForbidden, isNotFound, KubeError } from '../../../kube/errors.ts';
import { StepFailure } from '../../model/step-failure.ts';
import { operatorRights } from '../../rights.ts';

/** A Secret's texts by key. */
export interface SecretValues {
  /** Throws StepFailure when the value is not UTF-8. */
  get(key: string): string | undefined;
}

/** Reads a Secret; undefined: the Secret does not exist. Throws StepFailure when the Secret cannot be read. */
export async function readSecret(
  client: Pick<KubeClient, 'find'>,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<SecretValues | undefined> {
  const where = `Secret ${namespace}/${name}`;
  try {
    const secret = await client.find(secrets, { namespace, name }, { signal });
    if (!secret) return undefined;
    return { get: (key) => textIn(new Map(Object.entries(secret.data ?? {})), key, where) };
  } catch (error) {
    signal.throwIfAborted();
    if (isNotFound(error)) return undefined;
    if (!(error instanceof KubeError)) throw error;
    const fix = isForbidden(error)
      ? `; grant the operator read access to Secrets in namespace ${namespace} (chart value secretNamespaces, Role ${operatorRights.roles.secrets})`
      : '';
    const message = `Secret ${namespace}/${name} cannot be read: ${error.message}${fix}`;
    // A fallback to another key would hide the unreadable Secret.
    throw new StepFailure({ reason: 'ConfigError', message }, { cause: error });
  }
}

/** Returns the text; non-UTF-8 bytes, decoded anyway, would be a wrong password and could lock the account. */
function textIn(data: ReadonlyMap<string, string>, key: string, where: string): string | undefined {
  const value = data.get(key);
  if (value === undefined) return undefined;
  const bytes = Buffer.from(value, 'base64');
  if (!isUtf8(bytes)) throw configError(`${where}: key "${key}" is not UTF-8 text`);
  return bytes.toString();
}

export function configError(message: string): StepFailure {
  return new StepFailure({ reason: 'ConfigError', message });
}
