import type { Routing } from '../../../api/multinicnodeconfig.ts';
import type { AddressFamily, OpenstackConfigSpec } from '../../../api/openstackconfig.ts';
import type { OperatorSettings } from '../settings/operator.ts';
import type { ViolaEndpoint } from './endpoints.ts';
import type { Fields } from './fields.ts';

interface Delivered {
  readonly addressFamilies: readonly AddressFamily[];
  readonly providerId: string;
  readonly routing: Routing;
  readonly viola: ViolaEndpoint;
}

type Given = NonNullable<OpenstackConfigSpec['settings']>;

/**
 * Refuses settings that a legacy Viola mishandles without an error: nodes of an unknown provider go to its own cluster,
 * and unknown fields are dropped.
 */
export function refuseForLegacyViola(
  { addressFamilies, providerId, routing, viola }: Delivered,
  { existingConfiguration }: Pick<Given, 'existingConfiguration'>,
  { legacyViolaProviders }: Pick<OperatorSettings, 'legacyViolaProviders'>,
  fields: Fields,
): void {
  if (viola.compatibility !== 'legacy') return;
  if (!viola.trusted && viola.url !== '') {
    const message = `"${viola.url}" is not in the operator's ALLOWED_ENDPOINTS, so nothing confirms that this legacy Viola has the providers of LEGACY_VIOLA_PROVIDERS; add it to ALLOWED_ENDPOINTS, or remove the field`;
    fields.refuse(viola.field, message, 'PolicyDenied');
  }
  if (providerId !== '' && !legacyViolaProviders.includes(providerId)) {
    const message = `is legacy, and provider "${providerId}" is not in the operator's LEGACY_VIOLA_PROVIDERS; a legacy Viola writes nodes of an unknown provider to its own cluster; check that its routing file has a target with providerId "${providerId}", then add the id to LEGACY_VIOLA_PROVIDERS`;
    fields.refuse('spec.settings.violaCompatibility', message);
  }
  if (viola.observes) {
    const message =
      'Observe needs a native Viola: with spec.settings.violaCompatibility legacy the nodes would be changed; use Apply, or a native Viola';
    fields.refuse('spec.settings.mode', message);
  }
  // The operator's default alone is no mistake in the OpenstackConfig.
  if (existingConfiguration === 'Adopt') {
    const message = 'Adopt is dropped by a legacy Viola; use Refuse, or a native Viola';
    fields.refuse('spec.settings.existingConfiguration', message);
  }
  if (routing !== 'pbr') {
    const message = `"${routing}" is dropped by a legacy Viola; use pbr, or a native Viola`;
    fields.refuse('spec.settings.routing', message);
  }
  if (addressFamilies.includes('IPv6')) {
    const message = 'includes IPv6, which a legacy Viola drops; use [IPv4], or a native Viola';
    fields.refuse('spec.settings.addressFamilies', message);
  }
}
