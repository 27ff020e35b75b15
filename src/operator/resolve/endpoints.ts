import type { OpenstackConfigSpec } from '../../api/openstackconfig.ts';
import { urlText } from '../../openstack/endpoint.ts';
import type { OperatorSettings } from '../settings.ts';
import { type Fields, trimmed } from './fields.ts';
import { judgeEndpoint } from './policy.ts';

/** A place to call, and whether it may be given secrets of the operator. */
export interface Endpoint {
  /** Field of the CR that may name it. */
  readonly field: string;
  /** '' when nobody names one. */
  readonly url: string;
  readonly trusted: boolean;
}

/** A Viola, and which of the two kinds answers there. */
export interface ViolaEndpoint extends Endpoint {
  readonly compatibility: 'native' | 'legacy';
}

/** One of OpenStack, which others may name as well. */
export interface ServiceEndpoint extends Endpoint {
  /** Whether the CR names it. */
  readonly isGiven: boolean;
}

/** Whom to call and how: CR before operator, and what the CR names is judged by the operator's policy. */
export function resolveEndpoints(
  spec: OpenstackConfigSpec,
  operator: OperatorSettings,
  fields: Fields,
) {
  const settings = spec.settings ?? {};
  const { openstackTimeout } = settings;
  const from = (key: 'openstackNeutronEndpoint' | 'openstackNovaEndpoint'): ServiceEndpoint => {
    const source = { given: trimmed(settings[key]), own: operator[key], env: undefined };
    return endpointOf(key, source, operator, fields);
  };
  return {
    viola: resolveViola(spec, operator, fields),
    openstack: {
      timeoutMs: fields.timeout('openstackTimeout', openstackTimeout, operator.openstackTimeout),
      given: {
        insecure: settings.openstackInsecureTLS,
        interface: catalogInterface(settings.openstackEndpointInterface, fields),
        region: trimmed(settings.openstackEndpointRegion),
      },
      neutron: from('openstackNeutronEndpoint'),
      nova: from('openstackNovaEndpoint'),
    },
  };
}

/** The Viola of an OpenstackConfig: all that a deletion needs. */
export function resolveViola(
  spec: OpenstackConfigSpec,
  operator: OperatorSettings,
  fields: Fields,
): ViolaEndpoint {
  const { violaEndpoint, violaCompatibility: compatibility = 'native' } = spec.settings ?? {};
  const given = trimmed(violaEndpoint);
  const source = { given, own: operator.violaEndpoint, env: 'VIOLA_ENDPOINT' };
  return { ...endpointOf('violaEndpoint', source, operator, fields), compatibility };
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

/** The endpoint that the CR names, as far as the policy allows it, else the operator's. */
export function endpointOf(
  key: EndpointKey,
  { given, own, env }: EndpointSource,
  operator: OperatorSettings,
  fields: Fields,
): ServiceEndpoint {
  const field = `spec.settings.${key}`;
  if (given === undefined || given.replace(/\/+$/, '') === own) {
    if (own === undefined && env !== undefined) fields.refuse(field, `is required (or set ${env})`);
    return { field, url: own ?? '', trusted: true, isGiven: given !== undefined };
  }
  const verdict = judgeEndpoint(given, operator.allowedEndpoints);
  if (typeof verdict === 'object') {
    fields.refuse(field, `${urlText(given)} ${verdict.denied}`, 'PolicyDenied');
  }
  const trusted = verdict === 'trusted';
  return { field, url: given.replace(/\/+$/, ''), trusted, isGiven: true };
}

function catalogInterface(
  given: string | undefined,
  fields: Fields,
): OperatorSettings['openstackEndpointInterface'] | undefined {
  const name = trimmed(given)?.toLowerCase();
  if (name === undefined || name === 'public' || name === 'internal' || name === 'admin') {
    return name;
  }
  const field = 'spec.settings.openstackEndpointInterface';
  fields.refuse(field, `"${name}" is unknown; use public, internal or admin`);
  return undefined;
}
