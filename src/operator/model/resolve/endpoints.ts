import type { OpenstackConfigSpec } from '../../../api/openstackconfig.ts';
import { urlText } from '../../../openstack/endpoint.ts';
import type { OperatorSettings } from '../settings/operator.ts';
import { type Fields, trimmed } from './fields.ts';
import { judgeEndpoint } from './policy.ts';

/** A service URL, and whether the operator may send secrets there. */
export interface Endpoint {
  /** CR field that may name the URL. */
  readonly field: string;
  /** '': no URL is set. */
  readonly url: string;
  readonly trusted: boolean;
}

/** A Viola's endpoint, native or legacy. */
export interface ViolaEndpoint extends Endpoint {
  readonly compatibility: 'native' | 'legacy';
  /** True: nodes are written in mode Observe, which this Viola must support. */
  readonly observes?: boolean;
  /** True: nodes get consent to adoption where Viola supports this. */
  readonly adopts?: boolean;
}

/** An OpenStack service's endpoint, which catalog or account may name, too. */
export interface ServiceEndpoint extends Endpoint {
  /** Whether the CR names the URL. */
  readonly isGiven: boolean;
}

/** Resolves all endpoints: CR before operator. The operator's policy limits endpoints in the CR. */
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

/** Resolves only Viola's endpoint, which is enough for a deletion. */
export function resolveViola(
  spec: OpenstackConfigSpec,
  operator: OperatorSettings,
  fields: Fields,
): ViolaEndpoint {
  const { violaEndpoint, violaCompatibility: compatibility = 'native', mode } = spec.settings ?? {};
  const consent = spec.settings?.existingConfiguration ?? operator.existingConfiguration;
  const given = trimmed(violaEndpoint);
  const source = { given, own: operator.violaEndpoint, env: 'VIOLA_ENDPOINT' };
  const endpoint = { ...endpointOf('violaEndpoint', source, operator, fields), compatibility };
  return {
    ...endpoint,
    ...(mode === 'Observe' ? { observes: true } : {}),
    ...(consent === 'Adopt' ? { adopts: true } : {}),
  };
}

type EndpointKey =
  | 'contrabassEndpoint'
  | 'violaEndpoint'
  | 'openstackNeutronEndpoint'
  | 'openstackNovaEndpoint';

interface EndpointSource {
  readonly given: string | undefined;
  readonly own: string | undefined;
  /** Environment variable for the error message when no URL is set; undefined: the endpoint is optional. */
  readonly env: string | undefined;
}

/** Returns the CR's endpoint if the policy allows the URL, else the operator's endpoint. */
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
