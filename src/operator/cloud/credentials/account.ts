import type { KubeClient } from '../../../kube/client/client.ts';
import type { CloudAuth } from '../../../openstack/cloud-identity.ts';
import type { Clouds } from '../../../openstack/clouds.ts';
import type { Broker } from '../../../openstack/contrabass.ts';
import { urlText } from '../../../openstack/endpoint.ts';
import type { CaBundle } from '../../../requests/ca-bundle.ts';
import type { TlsOptions } from '../../../requests/transport.ts';
import type { ServiceEndpoint } from '../../model/resolve/endpoints.ts';
import { deniedEndpoint } from '../../model/resolve/policy.ts';
import type { ResolvedConfig } from '../../model/resolve/resolve.ts';
import type { OperatorSettings } from '../../model/settings/operator.ts';
import { StepFailure } from '../../model/step-failure.ts';

/** A cloud account, with endpoints and options from the account's source. */
export interface Account {
  readonly keystoneUrl: string;
  readonly auth: CloudAuth;
  readonly neutronUrl?: string | undefined;
  readonly novaUrl?: string | undefined;
  readonly region?: string | undefined;
  readonly interface?: 'public' | 'internal' | 'admin' | undefined;
  /** Whether certificates are verified, and the source of this choice. */
  readonly verify?: { readonly is: boolean; readonly by: string } | undefined;
  /** CA bundle, PEM. */
  readonly ca?: string | undefined;
  /** Allowed origins for Keystone and its catalog; empty: no limit by policy. */
  readonly allowed: readonly string[];
  /** Set only by Contrabass. */
  readonly broker?: Broker | undefined;
}

/** CA bundles that the operator trusts. */
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

/** The OpenstackConfig whose account is requested. */
export interface AccountRequest {
  readonly namespace: string;
  readonly openstack: ResolvedConfig['openstack'];
}

/** Throws PolicyDenied for an endpoint from outside the CR, before a password or token is sent there. */
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

/** Returns the endpoint by precedence: CR, account, operator. */
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
