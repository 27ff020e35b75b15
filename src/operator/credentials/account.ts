import type { KubeClient } from '../../kube/client/client.ts';
import type { CloudAuth } from '../../openstack/cloud-identity.ts';
import type { Clouds } from '../../openstack/clouds.ts';
import type { Broker } from '../../openstack/contrabass.ts';
import { urlText } from '../../openstack/endpoint.ts';
import type { CaBundle } from '../../requests/ca-bundle.ts';
import type { TlsOptions } from '../../requests/transport.ts';
import type { ServiceEndpoint } from '../resolve/endpoints.ts';
import { deniedEndpoint } from '../resolve/policy.ts';
import type { ResolvedConfig } from '../resolve/resolve.ts';
import type { OperatorSettings } from '../settings.ts';
import { StepFailure } from '../status/step-failure.ts';

/** An account of a cloud, and what whoever holds it says of the cloud. */
export interface Account {
  readonly keystoneUrl: string;
  readonly auth: CloudAuth;
  readonly neutronUrl?: string | undefined;
  readonly novaUrl?: string | undefined;
  readonly region?: string | undefined;
  readonly interface?: 'public' | 'internal' | 'admin' | undefined;
  /** Whether certificates are verified, and what says so. */
  readonly verify?: { readonly is: boolean; readonly by: string } | undefined;
  /** PEM. */
  readonly ca?: string | undefined;
  /** Origins that Keystone and its catalog may be at; none = the policy does not limit them. */
  readonly allowed: readonly string[];
  /** Only Contrabass names one. */
  readonly broker?: Broker | undefined;
}

/** Whom the operator trusts. */
export interface Authorities {
  readonly contrabass: CaBundle;
  readonly openstack: CaBundle;
}

export interface AccountDeps {
  readonly client: Pick<KubeClient, 'find'>;
  readonly settings: OperatorSettings;
  readonly authorities: Authorities;
  readonly clouds: Pick<Clouds, 'provider'>;
}

/** For which OpenstackConfig an account is looked for. */
export interface AccountRequest {
  readonly namespace: string;
  readonly openstack: ResolvedConfig['openstack'];
}

/** Refuses a place that the CR does not name itself, before a password or a token goes there. */
export function refuseDenied(
  who: string,
  url: string | undefined,
  allowed: readonly string[],
): void {
  if (url === undefined) return;
  const why = deniedEndpoint(url, allowed);
  if (why === undefined) return;
  throw new StepFailure({
    reason: 'PolicyDenied',
    message: `${who} ${urlText(url)}, which ${why}`,
  });
}

/** Of two places the one that the CR names, then the account's, then the operator's. */
export function nearest(
  endpoint: ServiceEndpoint,
  ofAccount: string | undefined,
): string | undefined {
  const other = endpoint.url === '' ? undefined : endpoint.url;
  return endpoint.isGiven ? other : (ofAccount ?? other);
}

export function tlsOf(insecure: boolean, ca: string | undefined): TlsOptions {
  return { insecure, ...(ca === undefined ? {} : { ca }) };
}
