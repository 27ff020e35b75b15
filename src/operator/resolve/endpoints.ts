import type { OpenstackConfigSpec } from '../../api/openstackconfig.ts';
import type { OperatorSettings } from '../settings.ts';
import { judgeEndpoint } from './endpoint-policy.ts';
import { type Fields, trimmed } from './fields.ts';

/** A place to call, and whether it may be given secrets of the operator. */
export interface Endpoint {
  /** Field of the CR that may name it. */
  readonly field: string;
  /** '' when nobody names one. */
  readonly url: string;
  readonly trusted: boolean;
}

/** Whom to call and how: CR before operator, and what the CR names is judged by the operator's policy. */
export function resolveEndpoints(
  spec: OpenstackConfigSpec,
  operator: OperatorSettings,
  fields: Fields,
) {
  const settings = spec.settings ?? {};
  const from = (key: EndpointKey, env?: string): Endpoint =>
    endpoint(key, { given: trimmed(settings[key]), own: operator[key], env }, operator, fields);
  const timeout = (key: 'contrabassTimeout' | 'openstackTimeout') =>
    fields.duration(`spec.settings.${key}`, settings[key], operator[key], 1);
  const contrabass = from('contrabassEndpoint', 'CONTRABASS_ENDPOINT');
  const neutron = from('openstackNeutronEndpoint');
  const nova = from('openstackNovaEndpoint');
  return {
    contrabass: {
      ...contrabass,
      timeoutMs: timeout('contrabassTimeout'),
      insecure: settings.contrabassInsecureTLS ?? operator.contrabassInsecureTls,
    },
    viola: resolveViola(spec, operator, fields),
    openstack: {
      timeoutMs: timeout('openstackTimeout'),
      insecure: settings.openstackInsecureTLS ?? operator.openstackInsecureTls,
      interface: catalogInterface(settings.openstackEndpointInterface, operator, fields),
      region: trimmed(settings.openstackEndpointRegion) ?? operator.openstackEndpointRegion,
      neutronUrl: neutron.url || undefined,
      novaUrl: nova.url || undefined,
    },
    untrustedFields: [contrabass, neutron, nova].flatMap(({ trusted, field }) =>
      trusted ? [] : [field],
    ),
  };
}

/** The Viola of an OpenstackConfig: all that a deletion needs. */
export function resolveViola(
  spec: OpenstackConfigSpec,
  operator: OperatorSettings,
  fields: Fields,
): Endpoint {
  const given = trimmed(spec.settings?.violaEndpoint);
  const source = { given, own: operator.violaEndpoint, env: 'VIOLA_ENDPOINT' };
  return endpoint('violaEndpoint', source, operator, fields);
}

type EndpointKey =
  | 'contrabassEndpoint'
  | 'violaEndpoint'
  | 'openstackNeutronEndpoint'
  | 'openstackNovaEndpoint';

interface EndpointSource {
  readonly given: string | undefined;
  readonly own: string | undefined;
  /** Named when neither is there; without it the endpoint is optional. */
  readonly env: string | undefined;
}

function endpoint(
  key: EndpointKey,
  { given, own, env }: EndpointSource,
  operator: OperatorSettings,
  fields: Fields,
): Endpoint {
  const field = `spec.settings.${key}`;
  if (given === undefined || given.replace(/\/+$/, '') === own) {
    if (own === undefined && env !== undefined) fields.refuse(field, `is required (or set ${env})`);
    return { field, url: own ?? '', trusted: true };
  }
  const verdict = judgeEndpoint(given, operator.allowedEndpoints);
  if (typeof verdict === 'object') {
    fields.refuse(field, `"${given}" ${verdict.denied}`, 'PolicyDenied');
  }
  return { field, url: given.replace(/\/+$/, ''), trusted: verdict === 'trusted' };
}

function catalogInterface(
  given: string | undefined,
  operator: OperatorSettings,
  fields: Fields,
): OperatorSettings['openstackEndpointInterface'] {
  const name = trimmed(given)?.toLowerCase();
  if (name === undefined) return operator.openstackEndpointInterface;
  if (name === 'public' || name === 'internal' || name === 'admin') return name;
  const field = 'spec.settings.openstackEndpointInterface';
  fields.refuse(field, `"${name}" is unknown; use public, internal or admin`);
  return operator.openstackEndpointInterface;
}
