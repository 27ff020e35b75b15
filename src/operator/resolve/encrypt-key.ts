import type { KubeClient } from '../../kube/client/client.ts';
import { secrets } from '../../kube/core-resources.ts';
import { isNotFound, KubeError } from '../../kube/errors.ts';
import { StepFailure } from '../status/step-failure.ts';
import type { ResolvedConfig } from './resolve.ts';

/** Secret that earlier generations look for in the namespace of the OpenstackConfig. */
const usual = { name: 'contrabass-encrypt-key', key: 'CONTRABASS_ENCRYPT_KEY' } as const;

export interface KeySources {
  readonly client: Pick<KubeClient, 'find'>;
  /** The operator's own key. */
  readonly operatorKey: string | undefined;
}

/**
 * The key of Contrabass' passwords: the referenced Secret, else the usual Secret of the namespace, else the one in the CR,
 * else the operator's. Throws ConfigError when there is none, or when a Secret that is there cannot be used.
 */
export async function encryptKeyOf(
  config: Pick<ResolvedConfig, 'encryptKey' | 'untrustedFields'>,
  namespace: string,
  { client, operatorKey }: KeySources,
  signal: AbortSignal,
): Promise<string> {
  const { secretRef, plain } = config.encryptKey;
  if (secretRef) {
    const value = await readSecret(client, namespace, secretRef, signal);
    if (value !== undefined) return value;
    const where = `spec.secrets.contrabassEncryptKeySecretRef: Secret ${namespace}/${secretRef.name}`;
    throw configError(`${where} has no key "${secretRef.key}" with a value`);
  }
  const found = (await readSecret(client, namespace, usual, signal)) ?? plain;
  if (found !== undefined) return found;
  if (operatorKey === undefined) {
    const ways = `create Secret ${namespace}/${usual.name} with key ${usual.key}, or set spec.secrets.contrabassEncryptKeySecretRef`;
    throw configError(`contrabassEncryptKey is required (${ways})`);
  }
  if (config.untrustedFields.length === 0) return operatorKey;
  // Whoever answers there gets to see what the key decrypts, or a token that was bought with it.
  const named = config.untrustedFields.join(', ');
  const message = `${named}: not in the operator's ALLOWED_ENDPOINTS, so the operator's encrypt key is not used; allow it there, or bring a key in Secret ${namespace}/${usual.name}`;
  throw new StepFailure({ reason: 'PolicyDenied', message });
}

async function readSecret(
  client: KeySources['client'],
  namespace: string,
  { name, key }: { readonly name: string; readonly key: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const secret = await client.find(secrets, { namespace, name }, { signal });
    const value = secret?.data?.[key];
    return value === undefined
      ? undefined
      : Buffer.from(value, 'base64').toString('utf8').trim() || undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (isNotFound(error)) return undefined;
    if (!(error instanceof KubeError)) throw error;
    // Falling back to another key would hide that the right one could not be read.
    throw new StepFailure(
      {
        reason: 'ConfigError',
        message: `Secret ${namespace}/${name} cannot be read: ${error.message}`,
      },
      { cause: error },
    );
  }
}

function configError(message: string): StepFailure {
  return new StepFailure({ reason: 'ConfigError', message });
}
