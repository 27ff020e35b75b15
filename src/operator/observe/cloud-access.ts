import type { Cloud } from '../../openstack/cloud.ts';
import type { Clouds } from '../../openstack/clouds.ts';
import type { CaBundle } from '../../requests/ca-bundle.ts';
import type { TlsOptions } from '../../requests/transport.ts';
import { deniedEndpoint } from '../resolve/endpoint-policy.ts';
import type { ResolvedConfig } from '../resolve/resolve.ts';
import { openstackFailure, StepFailure } from '../status/step-failure.ts';

/** Whom the operator trusts. */
export interface Authorities {
  readonly contrabass: CaBundle;
  readonly openstack: CaBundle;
}

export interface CloudAccessOptions {
  readonly clouds: Clouds;
  readonly authorities: Authorities;
  readonly allowedEndpoints: readonly string[];
  /** The value with which somebody asked for a full sync; '' = nobody. */
  readonly asked: string;
}

/** Asks Contrabass how to reach the cloud of an OpenstackConfig; everybody who names the same one shares it. */
export async function cloudOf(
  config: ResolvedConfig,
  encryptKey: string,
  { clouds, authorities, allowedEndpoints, asked }: CloudAccessOptions,
  signal: AbortSignal,
): Promise<Cloud> {
  const { contrabass, openstack, openstackProviderId: providerId } = config;
  const { url: endpoint, timeoutMs, insecure } = contrabass;
  const tls = tlsOf(insecure, await authorities.contrabass());
  const request = { endpoint, providerId, encryptKey, timeoutMs, tls };
  const provider = await clouds.provider(request, signal).catch((error: unknown) => {
    throw openstackFailure(error, 'ContrabassError');
  });
  // The password goes there next, and the token after it.
  const allowed = contrabass.trusted ? [] : allowedEndpoints;
  refuseDenied('Contrabass names Keystone', provider.keystoneUrl, allowed);
  refuseDenied('Contrabass names Neutron', provider.neutronUrl, allowed);
  refuseDenied('Contrabass names Nova', provider.novaUrl, allowed);
  const { region, interface: interfaceName } = openstack;
  const neutronUrl = openstack.neutronUrl ?? provider.neutronUrl;
  const novaUrl = openstack.novaUrl ?? provider.novaUrl;
  const identity = {
    keystoneUrl: provider.keystoneUrl,
    username: provider.username,
    password: provider.password,
    domainName: provider.domainName,
    projectId: config.projectId,
    interface: interfaceName,
    ...(region === undefined ? {} : { region }),
    ...(neutronUrl === undefined ? {} : { neutronUrl }),
    ...(novaUrl === undefined ? {} : { novaUrl }),
    // Who chose the Contrabass chose the Keystone and its catalog.
    ...(allowed.length === 0 ? {} : { allowedEndpoints: allowed }),
    tls: tlsOf(openstack.insecure, await authorities.openstack()),
    timeoutMs: openstack.timeoutMs,
  };
  return clouds.get(identity, asked);
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
