import type { KubeClient } from '../kube/client/client.ts';
import { secrets } from '../kube/core-resources.ts';
import { isForbidden, isNotFound, KubeError } from '../kube/errors.ts';
import { keyOf } from '../kube/object.ts';
import { type CloudIdentity, passwordAuth } from '../openstack/cloud-identity.ts';
import type { Clouds } from '../openstack/clouds.ts';
import type { CaBundle } from '../requests/ca-bundle.ts';
import type { TlsOptions } from '../requests/transport.ts';
import type { ViolaClient } from './deliver/viola-client.ts';
import type { Violas } from './deliver/violas.ts';
import type { CloudView, CloudViews } from './observe/cloud-view.ts';
import { deniedEndpoint } from './resolve/endpoints.ts';
import type { ResolvedConfig } from './resolve/resolve.ts';
import { operatorRights } from './rights.ts';
import type { OperatorSettings } from './settings.ts';
import { openstackFailure, StepFailure } from './status/step-failure.ts';
import type { SyncRequest } from './sync-request.ts';

export interface AccessDeps {
  readonly client: Pick<KubeClient, 'find'>;
  readonly settings: OperatorSettings;
  readonly authorities: Authorities;
  readonly clouds: Clouds;
  readonly views: CloudViews;
  readonly violas: Violas;
}

/** Both ends of a sync. */
export interface Access {
  readonly view: CloudView;
  readonly viola: ViolaClient;
}

/** From the key of Contrabass to the cloud, and the business cluster. Throws StepFailure. */
export async function access(
  { config, source, asked }: SyncRequest,
  deps: AccessDeps,
  signal: AbortSignal,
): Promise<Access> {
  const key = await encryptKeyOf(config, source.namespace, deps, signal);
  const identity = await identityOf(config, key, deps, signal);
  return {
    view: deps.views.of(deps.clouds.get(identity, asked), keyOf(source)),
    viola: await deps.violas.of(config.viola, config.providerId),
  };
}

/** Whom the operator trusts. */
export interface Authorities {
  readonly contrabass: CaBundle;
  readonly openstack: CaBundle;
}

/** Asks Contrabass how to reach the cloud of an OpenstackConfig, and as whom. */
async function identityOf(
  config: ResolvedConfig,
  encryptKey: string,
  { clouds, authorities, settings }: AccessDeps,
  signal: AbortSignal,
): Promise<CloudIdentity> {
  const { contrabass, openstack, openstackProviderId: providerId } = config;
  const { url: endpoint, timeoutMs, insecure } = contrabass;
  const tls = tlsOf(insecure, await authorities.contrabass());
  const request = { endpoint, providerId, encryptKey, timeoutMs, tls };
  const provider = await clouds.provider(request, signal).catch((error: unknown) => {
    throw openstackFailure(error, 'ContrabassError');
  });
  // The password goes there next, and the token after it.
  const allowed = contrabass.trusted ? [] : settings.allowedEndpoints;
  refuseDenied('Contrabass names Keystone', provider.keystoneUrl, allowed);
  refuseDenied('Contrabass names Neutron', provider.neutronUrl, allowed);
  refuseDenied('Contrabass names Nova', provider.novaUrl, allowed);
  const { region, interface: interfaceName } = openstack;
  const neutronUrl = openstack.neutronUrl ?? provider.neutronUrl;
  const novaUrl = openstack.novaUrl ?? provider.novaUrl;
  return {
    keystoneUrl: provider.keystoneUrl,
    auth: passwordAuth({ ...provider, projectId: config.projectId }),
    interface: interfaceName,
    ...(region === undefined ? {} : { region }),
    ...(neutronUrl === undefined ? {} : { neutronUrl }),
    ...(novaUrl === undefined ? {} : { novaUrl }),
    // Who chose the Contrabass chose the Keystone and its catalog.
    ...(allowed.length === 0 ? {} : { allowedEndpoints: allowed }),
    tls: tlsOf(openstack.insecure, await authorities.openstack()),
    timeoutMs: openstack.timeoutMs,
  };
}

function refuseDenied(who: string, url: string | undefined, allowed: readonly string[]): void {
  if (url === undefined) return;
  const why = deniedEndpoint(url, allowed);
  if (why === undefined) return;
  throw new StepFailure({ reason: 'PolicyDenied', message: `${who} "${url}", which ${why}` });
}

function tlsOf(insecure: boolean, ca: string | undefined): TlsOptions {
  return { insecure, ...(ca === undefined ? {} : { ca }) };
}

/** Secret that earlier generations look for in the namespace of the OpenstackConfig. */
const usual = { name: 'contrabass-encrypt-key', key: 'CONTRABASS_ENCRYPT_KEY' } as const;

/**
 * The key of Contrabass' passwords: the referenced Secret, else the usual Secret of the namespace, else the one in the CR,
 * else the operator's. Throws ConfigError when there is none, or when a Secret that is there cannot be used.
 */
async function encryptKeyOf(
  config: Pick<ResolvedConfig, 'encryptKey' | 'untrustedFields'>,
  namespace: string,
  { client, settings }: AccessDeps,
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
  const operatorKey = settings.contrabassEncryptKey;
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
  client: AccessDeps['client'],
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
    const fix = isForbidden(error)
      ? `; let the operator read Secrets of ${namespace} (secretNamespaces, Role ${operatorRights.roles.secrets})`
      : '';
    const message = `Secret ${namespace}/${name} cannot be read: ${error.message}${fix}`;
    // Falling back to another key would hide that the right one could not be read.
    throw new StepFailure({ reason: 'ConfigError', message }, { cause: error });
  }
}

function configError(message: string): StepFailure {
  return new StepFailure({ reason: 'ConfigError', message });
}
