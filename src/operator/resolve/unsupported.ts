import type { OpenstackConfigSpec } from '../../api/openstackconfig.ts';
import type { Fields } from './fields.ts';

/** Refuses by name every field whose behaviour does not exist yet: a wish is never ignored in silence. */
export function refuseUnsupported(spec: OpenstackConfigSpec, fields: Fields): void {
  refuseCredentials(spec, fields);
  if (spec.vmSelector !== undefined) {
    fields.refuse('spec.vmSelector', 'is not supported yet; list the servers in spec.vmNames');
  }
  const { routing, addressFamilies, violaCompatibility } = spec.settings ?? {};
  if (routing !== undefined && routing !== 'pbr') {
    fields.refuse('spec.settings.routing', `"${routing}" is not supported yet; use pbr`);
  }
  if (addressFamilies !== undefined && addressFamilies.join() !== 'IPv4') {
    const given = addressFamilies.join(', ');
    fields.refuse('spec.settings.addressFamilies', `[${given}] is not supported yet; use [IPv4]`);
  }
  if (violaCompatibility !== undefined && violaCompatibility !== 'native') {
    const field = 'spec.settings.violaCompatibility';
    fields.refuse(field, `"${violaCompatibility}" is not supported yet; use native`);
  }
}

const direct = [
  'authURL',
  'username',
  'password',
  'domainName',
  'networkEndpoint',
  'computeEndpoint',
] as const;

function refuseCredentials({ credentials }: OpenstackConfigSpec, fields: Fields): void {
  const instead = 'is not supported yet; use openstackProviderID, k8sProviderID and projectID';
  for (const key of direct) {
    if (credentials[key] !== undefined) fields.refuse(`spec.credentials.${key}`, instead);
  }
  if (credentials.secretRef !== undefined) {
    const { name } = credentials.secretRef;
    fields.refuse('spec.credentials.secretRef', `("${name}") ${instead}`);
  }
}
