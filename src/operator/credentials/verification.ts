import type { CloudIdentity } from '../../openstack/cloud-identity.ts';
import type { ProviderSource } from '../resolve/credentials.ts';
import { mustBeVerified } from '../resolve/policy.ts';
import type { OperatorSettings } from '../settings.ts';
import { StepFailure } from '../status/step-failure.ts';
import type { Account } from './account.ts';

/** How far certificates of a cloud are verified. */
export interface Verification {
  readonly insecure: boolean;
  /** Set where that is the wish of the CR, or of who holds its account. */
  readonly unverified: CloudIdentity['unverified'];
}

/**
 * What the CR says before what stands beside the account, and that before the operator's settings. Throws PolicyDenied before
 * anything is sent where the wish does not hold; places that the catalog names are judged as soon as it does.
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
  // What an administrator decided for all needs nobody's leave.
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

/** Whose certificates are not verified at the wish of the CR, for people. */
export function unverifiedCloud({ keystoneUrl, unverified }: CloudIdentity): string[] {
  return unverified ? [`the cloud at ${keystoneUrl} (${unverified.by})`] : [];
}

/** Without TLS there is nothing to verify. */
export function unverifiedContrabass({
  url,
  unverifiedBy,
}: ProviderSource['contrabass']): string[] {
  return unverifiedBy && url.startsWith('https:') ? [`Contrabass at ${url} (${unverifiedBy})`] : [];
}
