import type { CloudIdentity } from '../../../openstack/cloud-identity.ts';
import type { ProviderSource } from '../../model/resolve/credentials.ts';
import { mustBeVerified } from '../../model/resolve/policy.ts';
import type { OperatorSettings } from '../../model/settings/operator.ts';
import { StepFailure } from '../../model/step-failure.ts';
import type { Account } from './account.ts';

/** Certificate verification for a cloud. */
export interface Verification {
  readonly insecure: boolean;
  /** Set when the CR, or the account's source, switches verification off. */
  readonly unverified: CloudIdentity['unverified'];
}

/**
 * Returns the verification by precedence: CR, account, operator's settings. Throws PolicyDenied before any call when
 * the policy requires verification; endpoints in the catalog are checked later.
 */
export function verificationOf(
  given: boolean | undefined,
  account: Account,
  { openstackInsecureTls, insecureTlsEndpoints: endpoints }: OperatorSettings,
): Verification {
  const verify =
    given === undefined
      ? account.verify
      : { is: !given, by: `spec.settings.openstackInsecureTLS is ${given}` };
  const insecure = verify ? !verify.is : openstackInsecureTls;
  // The administrator's own setting applies to all OpenstackConfigs and needs no approval.
  if (!verify || verify.is || openstackInsecureTls) return { insecure, unverified: undefined };
  const { by } = verify;
  refuseAny(account, by, endpoints);
  return { insecure, unverified: { by, endpoints } };
}

function refuseAny(
  { keystoneUrl, neutronUrl, novaUrl }: Account,
  by: string,
  endpoints: readonly string[],
): void {
  const places = { Keystone: keystoneUrl, Neutron: neutronUrl, Nova: novaUrl };
  for (const [name, url = ''] of Object.entries(places)) {
    const why = mustBeVerified(url, endpoints);
    if (why === undefined) continue;
    const message = `${by}, but ${name} is at "${url}", which ${why}`;
    throw new StepFailure({ reason: 'PolicyDenied', message });
  }
}

/** Names the cloud without certificate verification, for status messages. */
export function unverifiedCloud({ keystoneUrl, unverified }: CloudIdentity): string[] {
  return unverified ? [`the cloud at ${keystoneUrl} (${unverified.by})`] : [];
}

/** Names Contrabass without certificate verification; without TLS nothing is verified. */
export function unverifiedContrabass({
  url,
  unverifiedBy,
}: ProviderSource['contrabass']): string[] {
  return unverifiedBy && url.startsWith('https:') ? [`Contrabass at ${url} (${unverifiedBy})`] : [];
}
