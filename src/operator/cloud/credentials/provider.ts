import { passwordAuth } from '../../../openstack/cloud-identity.ts';
import type { Broker } from '../../../openstack/contrabass.ts';
import {
  brokerAddress,
  brokerText,
  placeOf,
} from '../../../openstack/notifications/broker-address.ts';
import type { ProviderSource } from '../../model/resolve/credentials.ts';
import { deniedEndpoint } from '../../model/resolve/policy.ts';
import { openstackFailure, StepFailure } from '../../model/step-failure.ts';
import {
  type Account,
  type AccountDeps,
  type AccountRequest,
  refuseDenied,
  tlsOf,
} from './account.ts';
import { configError, readSecret } from './secrets.ts';

/** Requests the cloud account of an OpenstackConfig from Contrabass. Throws StepFailure. */
export async function accountOfProvider(
  source: ProviderSource,
  request: AccountRequest,
  deps: AccountDeps,
  signal: AbortSignal,
): Promise<Account> {
  const { authorities, clouds, settings } = deps;
  const encryptKey = await encryptKeyOf(source, request, deps, signal);
  const { contrabass, openstackProviderId: providerId, projectId } = source;
  const { url: endpoint, timeoutMs, insecure } = contrabass;
  const tls = tlsOf(insecure, await authorities.contrabass());
  const asked = { endpoint, providerId, encryptKey, timeoutMs, tls };
  const provider = await clouds.provider(asked, signal).catch((error: unknown) => {
    throw openstackFailure(error, 'ContrabassError');
  });
  const { allowedEndpoints } = settings;
  // An administrator who trusts the Contrabass trusts its Keystone and catalog; inner addresses still need an entry in
  // ALLOWED_ENDPOINTS.
  const isLimited = !contrabass.trusted || allowedEndpoints.length === 0;
  const allowed = isLimited ? allowedEndpoints : [...allowedEndpoints, '*'];
  // Password and token are sent to these endpoints next.
  refuseDenied('Contrabass returns the Keystone URL', provider.keystoneUrl, allowed);
  refuseDenied('Contrabass returns the Neutron URL', provider.neutronUrl, allowed);
  refuseDenied('Contrabass returns the Nova URL', provider.novaUrl, allowed);
  const { neutron, nova } = request.openstack;
  return {
    keystoneUrl: provider.keystoneUrl,
    auth: passwordAuth({ ...provider, projectId }),
    neutronUrl: neutron.url || provider.neutronUrl,
    novaUrl: nova.url || provider.novaUrl,
    allowed,
    broker: provider.rabbit && judged(provider.rabbit, allowed),
  };
}

/** Checks the broker against the policy: an OpenstackConfig's author must not use the operator as a port scanner. */
function judged(broker: Broker, allowed: readonly string[]): Broker {
  for (const address of broker.hosts.flatMap((host) => brokerAddress(host) ?? [])) {
    const denied = deniedEndpoint(placeOf(address).href, allowed);
    if (denied !== undefined)
      return { ...broker, denied: `"${brokerText(address)}", which ${denied}` };
  }
  return broker;
}

/** Secret name from earlier generations, in the OpenstackConfig's namespace. */
const usual = { name: 'contrabass-encrypt-key', key: 'CONTRABASS_ENCRYPT_KEY' } as const;

/**
 * Returns the key for Contrabass' passwords: from the referenced Secret, else the usual Secret, else the CR, else the
 * operator. Throws ConfigError without a key, or when an existing Secret is unusable.
 */
async function encryptKeyOf(
  { encryptKey, untrustedFields }: ProviderSource,
  { namespace }: AccountRequest,
  { client, settings }: AccountDeps,
  signal: AbortSignal,
): Promise<string> {
  const { secretRef, plain } = encryptKey;
  const read = async ({ name, key }: typeof usual | NonNullable<typeof secretRef>) =>
    (await readSecret(client, { namespace, name }, signal))?.get(key)?.trim() || undefined;
  if (secretRef) {
    const value = await read(secretRef);
    if (value !== undefined) return value;
    const where = `spec.secrets.contrabassEncryptKeySecretRef: Secret ${namespace}/${secretRef.name}`;
    throw configError(`${where} has no key "${secretRef.key}" with a value`);
  }
  const found = (await read(usual)) ?? plain;
  if (found !== undefined) return found;
  const operatorKey = settings.contrabassEncryptKey;
  if (operatorKey === undefined) {
    const ways = `create Secret ${namespace}/${usual.name} with key ${usual.key}, or set spec.secrets.contrabassEncryptKeySecretRef`;
    throw configError(`contrabassEncryptKey is required (${ways})`);
  }
  if (untrustedFields.length === 0) return operatorKey;
  // The service at an untrusted endpoint would receive the decrypted password, or a token obtained with the password.
  const named = untrustedFields.join(', ');
  const message = `${named}: not in the operator's ALLOWED_ENDPOINTS, so the operator's encrypt key is not used; add it to ALLOWED_ENDPOINTS, or put your own key into Secret ${namespace}/${usual.name}`;
  throw new StepFailure({ reason: 'PolicyDenied', message });
}
