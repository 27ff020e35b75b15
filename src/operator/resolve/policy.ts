import type { OpenstackConfigSpec } from '../../api/openstackconfig.ts';
import type { CatalogLimits } from '../../openstack/cloud-identity.ts';
import { urlText } from '../../openstack/endpoint.ts';
import { innerKindOf } from '../../requests/inner-addresses.ts';
import { proxiesOf } from '../../requests/proxies.ts';
import type { ConfigObject } from '../openstack-config.ts';
import type { OperatorSettings } from '../settings.ts';
import { type Fields, trimmed } from './fields.ts';

/** Whether an endpoint in an OpenstackConfig may be called, and with which secrets. */
type EndpointVerdict =
  /** The operator's policy names the origin: the operator's secrets may be sent there. */
  | 'trusted'
  /** Calls are allowed, but without the operator's secrets, because the CR's author chose the endpoint. */
  | 'open'
  | { readonly denied: string };

/**
 * Checks a URL against allowed origins `scheme://host[:port]`. `*` in a host stands for one label, `*` alone for
 * everything. An empty list allows every address except loopback and link-local addresses, where clouds keep metadata
 * services. Host names are checked at their lookup.
 */
export function judgeEndpoint(url: string, allowed: readonly string[]): EndpointVerdict {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    return { denied: 'is not a URL such as https://viola.example:8080' };
  }
  const { origin, username, password, hostname } = new URL(url);
  if (username !== '' || password !== '')
    return { denied: 'must not contain a user name or password' };
  if (allowed.some((pattern) => pattern !== '*' && matches(pattern, origin))) return 'trusted';
  const inner = innerKindOf(hostname);
  if (inner !== undefined) {
    return { denied: `is ${inner}, and not in the operator's ALLOWED_ENDPOINTS` };
  }
  if (allowed.length === 0 || allowed.includes('*')) return 'open';
  return { denied: `is not allowed by the operator; it allows ${allowed.join(', ')}` };
}

/** Returns why a URL from outside the OpenstackConfig may not be called; undefined: allowed. */
export function deniedEndpoint(url: string, allowed: readonly string[]): string | undefined {
  const verdict = judgeEndpoint(url, allowed);
  return typeof verdict === 'object' ? verdict.denied : undefined;
}

/**
 * Returns why certificates at a URL must be verified despite the OpenstackConfig or its Secret; undefined: not
 * required, as for every URL without TLS.
 */
export function mustBeVerified(url: string, insecure: readonly string[]): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { origin, protocol } = new URL(url);
  if (protocol !== 'https:') return undefined;
  const isAllowed = insecure.some((pattern) => pattern === '*' || matches(pattern, origin));
  return isAllowed ? undefined : "is not in the operator's INSECURE_TLS_ENDPOINTS";
}

/** CR settings that switch off verification, each with the operator's setting of the same effect. */
const switches = {
  contrabassInsecureTLS: 'contrabassInsecureTls',
  openstackInsecureTLS: 'openstackInsecureTls',
} as const;

/** Refuses an OpenstackConfig without certificate verification at endpoints where the policy requires verification. */
export function refuseUnverified(
  key: keyof typeof switches,
  { settings = {} }: OpenstackConfigSpec,
  places: readonly string[],
  operator: OperatorSettings,
  fields: Fields,
): void {
  // The administrator's own setting applies to all OpenstackConfigs and needs no approval.
  if (settings[key] !== true || operator[switches[key]]) return;
  for (const place of new Set(places)) {
    const why = mustBeVerified(place, operator.insecureTlsEndpoints);
    if (why === undefined) continue;
    fields.refuse(`spec.settings.${key}`, `is true, but ${urlText(place)} ${why}`, 'PolicyDenied');
  }
}

/** Returns why a URL from the cloud's catalog may not be called; undefined: allowed. */
export function deniedInCatalog(url: string, limits: CatalogLimits): string | undefined {
  const { allowedEndpoints = [], unverified } = limits;
  const denied = deniedEndpoint(url, allowedEndpoints);
  if (denied !== undefined || unverified === undefined) return denied;
  const why = mustBeVerified(url, unverified.endpoints);
  return why && `${why}, and ${unverified.by}`;
}

/** Allowed namespaces, and allowed providers (clouds and business clusters); an empty list is no limit. */
type Admission = Pick<OperatorSettings, 'allowedNamespaces' | 'allowedProviders'>;

/** Refuses an OpenstackConfig in a denied namespace; its other fields are then not checked. */
export function isOfDeniedNamespace(
  { metadata: { namespace = '' } }: ConfigObject,
  { allowedNamespaces }: Admission,
  fields: Fields,
): boolean {
  if (allowedNamespaces.length === 0 || allowedNamespaces.includes(namespace)) return false;
  // The message does not list the allowed namespaces, because other tenants are confidential.
  const why = `"${namespace}" is not in the operator's ALLOWED_NAMESPACES`;
  fields.refuse('metadata.namespace', why, 'PolicyDenied');
  return true;
}

/** Refuses denied providers: Contrabass clouds and business clusters. */
export function refuseProviders(
  credentials: OpenstackConfigSpec['credentials'],
  { allowedProviders }: Admission,
  fields: Fields,
): void {
  if (allowedProviders.length === 0) return;
  for (const key of ['openstackProviderID', 'k8sProviderID'] as const) {
    const id = trimmed(credentials[key]);
    if (id === undefined || allowedProviders.includes(id)) continue;
    const why = `"${id}" is not in the operator's ALLOWED_PROVIDERS`;
    fields.refuse(`spec.credentials.${key}`, why, 'PolicyDenied');
  }
}

/** Returns whether a pattern matches an origin; the scheme's default port is optional on either side. */
function matches(pattern: string, origin: string): boolean {
  if (!pattern.includes('*')) return new URL(pattern).origin === origin;
  const parts = pattern
    .toLowerCase()
    .replace(/\/+$/, '')
    .split('*')
    .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  const meant = new RegExp(`^${parts.join('[^./:]+')}$`);
  const { protocol, port } = new URL(origin);
  const usual = protocol === 'https:' ? '443' : '80';
  return meant.test(origin) || (port === '' && meant.test(`${origin}:${usual}`));
}

/** Returns the operator's policy for outgoing calls; see createClouds. */
export function rulesOf(settings: OperatorSettings) {
  return {
    isTrusted: (url: URL) => isOwnPlace(url, settings),
    denied: deniedInCatalog,
    proxyOf: proxiesOf(settings),
  };
}

type OwnPlaces = Pick<
  OperatorSettings,
  | 'allowedEndpoints'
  | 'contrabassEndpoint'
  | 'violaEndpoint'
  | 'openstackNeutronEndpoint'
  | 'openstackNovaEndpoint'
>;

/** Returns whether the operator's own configuration names the origin, so any address is allowed. */
export function isOwnPlace(url: URL, settings: OwnPlaces): boolean {
  const { contrabassEndpoint, violaEndpoint } = settings;
  const { openstackNeutronEndpoint, openstackNovaEndpoint } = settings;
  return (
    [contrabassEndpoint, violaEndpoint, openstackNeutronEndpoint, openstackNovaEndpoint].some(
      (own) => own !== undefined && new URL(own).origin === url.origin,
    ) || judgeEndpoint(url.origin, settings.allowedEndpoints) === 'trusted'
  );
}
