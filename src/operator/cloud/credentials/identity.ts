import { type CloudIdentity, passwordAuth } from '../../../openstack/cloud-identity.ts';
import type { Broker } from '../../../openstack/contrabass.ts';
import type { DirectSource } from '../../model/resolve/credentials.ts';
import type { ResolvedConfig } from '../../model/resolve/resolve.ts';
import { type Account, type AccountDeps, type AccountRequest, nearest, tlsOf } from './account.ts';
import { accountOfProvider } from './provider.ts';
import { accountOfSecret } from './secret.ts';
import { unverifiedCloud, unverifiedContrabass, verificationOf } from './verification.ts';

/** Login for an OpenstackConfig's cloud. */
export interface Login {
  readonly identity: CloudIdentity;
  /** Not part of the identity, because another broker does not make another cloud. */
  readonly broker: Broker | undefined;
  /** Services without certificate verification by choice of CR or Secret, for status messages. */
  readonly unverified: readonly string[];
}

/** Resolves identity and endpoints for an OpenstackConfig's cloud. Throws StepFailure. */
export async function loginOf(
  config: ResolvedConfig,
  namespace: string,
  deps: AccountDeps,
  signal: AbortSignal,
): Promise<Login> {
  const { openstack, credentials } = config;
  const account = await accountOf(config, { namespace, openstack }, deps, signal);
  const { settings, authorities } = deps;
  const { given, timeoutMs } = openstack;
  const { keystoneUrl, auth, neutronUrl, novaUrl, allowed } = account;
  const { insecure, unverified } = verificationOf(given.insecure, account, settings);
  const identity = {
    keystoneUrl,
    auth,
    interface: given.interface ?? account.interface ?? settings.openstackEndpointInterface,
    region: given.region ?? account.region ?? settings.openstackEndpointRegion,
    neutronUrl,
    novaUrl,
    ...(allowed.length === 0 ? {} : { allowedEndpoints: allowed }),
    ...(unverified && { unverified }),
    tls: tlsOf(insecure, account.ca ?? (await authorities.openstack())),
    timeoutMs,
  };
  const contrabass =
    credentials.kind === 'provider' ? unverifiedContrabass(credentials.contrabass) : [];
  const unverifiedServices = [...contrabass, ...unverifiedCloud(identity)];
  return { identity, broker: account.broker, unverified: unverifiedServices };
}

async function accountOf(
  { credentials }: ResolvedConfig,
  request: AccountRequest,
  deps: AccountDeps,
  signal: AbortSignal,
): Promise<Account> {
  if (credentials.kind === 'direct') return accountInSpec(credentials, request, deps);
  return credentials.kind === 'secret'
    ? accountOfSecret(credentials, request, deps, signal)
    : accountOfProvider(credentials, request, deps, signal);
}

function accountInSpec(
  source: DirectSource,
  { openstack }: AccountRequest,
  { settings }: AccountDeps,
): Account {
  return {
    keystoneUrl: source.keystoneUrl,
    auth: passwordAuth(source),
    neutronUrl: nearest(openstack.neutron, source.neutronUrl),
    novaUrl: nearest(openstack.nova, source.novaUrl),
    allowed: settings.allowedEndpoints,
  };
}
