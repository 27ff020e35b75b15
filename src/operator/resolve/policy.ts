import type { OpenstackConfigSpec } from '../../api/openstackconfig.ts';
import type { CatalogLimits } from '../../openstack/cloud-identity.ts';
import { urlText } from '../../openstack/endpoint.ts';
import { innerKindOf } from '../../requests/inner-addresses.ts';
import { proxiesOf } from '../../requests/proxies.ts';
import type { ConfigObject } from '../openstack-config.ts';
import type { OperatorSettings } from '../settings.ts';
import { type Fields, trimmed } from './fields.ts';

/** Whether an endpoint that an OpenstackConfig names may be called, and with which secrets. */
type EndpointVerdict =
  /** Named by the operator's policy: it may be given secrets of the operator. */
  | 'trusted'
  /** May be called, but never with a secret of the operator: who writes the CR chose where it goes. */
  | 'open'
  | { readonly denied: string };

/**
 * Judges a URL by the allowed origins. `scheme://host[:port]` each; `*` in a host stands for one label, `*` alone for
 * everything. An empty list allows everything but inner addresses: loopback, and link-local ones, where clouds keep their
 * metadata services. Names are judged when they are looked up.
 */
export function judgeEndpoint(url: string, allowed: readonly string[]): EndpointVerdict {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    return { denied: 'is not a URL such as https://viola.example:8080' };
  }
  const { origin, username, password, hostname } = new URL(url);
  if (username !== '' || password !== '')
    return { denied: 'must not carry a user name or password' };
  if (allowed.some((pattern) => pattern !== '*' && matches(pattern, origin))) return 'trusted';
  const inner = innerKindOf(hostname);
  if (inner !== undefined) {
    return { denied: `is ${inner}, and not in the operator's ALLOWED_ENDPOINTS` };
  }
  if (allowed.length === 0 || allowed.includes('*')) return 'open';
  return { denied: `is not allowed by the operator; it allows ${allowed.join(', ')}` };
}

/** Why a URL that no OpenstackConfig names itself may not be called; undefined = it may. */
export function deniedEndpoint(url: string, allowed: readonly string[]): string | undefined {
  const verdict = judgeEndpoint(url, allowed);
  return typeof verdict === 'object' ? verdict.denied : undefined;
}

/**
 * Why certificates at a URL have to be verified, whatever an OpenstackConfig or the Secret of its account says; undefined =
 * they need not be. Without TLS there is nothing to verify.
 */
export function mustBeVerified(url: string, insecure: readonly string[]): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { origin, protocol } = new URL(url);
  if (protocol !== 'https:') return undefined;
  const isAllowed = insecure.some((pattern) => pattern === '*' || matches(pattern, origin));
  return isAllowed ? undefined : "is not in the operator's INSECURE_TLS_ENDPOINTS";
}

/** What has certificates not verified, and the setting that says so without it. */
const switches = {
  contrabassInsecureTLS: 'contrabassInsecureTls',
  openstackInsecureTLS: 'openstackInsecureTls',
} as const;

/** Refuses an OpenstackConfig that has certificates not verified at places where the policy wants them to be. */
export function refuseUnverified(
  key: keyof typeof switches,
  { settings = {} }: OpenstackConfigSpec,
  places: readonly string[],
  operator: OperatorSettings,
  fields: Fields,
): void {
  // What an administrator decided for all needs nobody's leave.
  if (settings[key] !== true || operator[switches[key]]) return;
  for (const place of new Set(places)) {
    const why = mustBeVerified(place, operator.insecureTlsEndpoints);
    if (why === undefined) continue;
    fields.refuse(`spec.settings.${key}`, `is true, but ${urlText(place)} ${why}`, 'PolicyDenied');
  }
}

/** Why the catalog of a cloud may not lead to a URL; undefined = it may. */
export function deniedInCatalog(url: string, limits: CatalogLimits): string | undefined {
  const { allowedEndpoints = [], unverified } = limits;
  const denied = deniedEndpoint(url, allowedEndpoints);
  if (denied !== undefined || unverified === undefined) return denied;
  const why = mustBeVerified(url, unverified.endpoints);
  return why && `${why}, and ${unverified.by}`;
}

/** Who may have an OpenstackConfig looked at, and for which clouds and business clusters; an empty list is no limit. */
type Admission = Pick<OperatorSettings, 'allowedNamespaces' | 'allowedProviders'>;

/** Refuses an OpenstackConfig of a namespace that the policy does not have; what it says concerns nobody then. */
export function isOfDeniedNamespace(
  { metadata: { namespace = '' } }: ConfigObject,
  { allowedNamespaces }: Admission,
  fields: Fields,
): boolean {
  if (allowedNamespaces.length === 0 || allowedNamespaces.includes(namespace)) return false;
  // Whom else the operator serves is nobody's business here.
  const why = `"${namespace}" is not in the operator's ALLOWED_NAMESPACES`;
  fields.refuse('metadata.namespace', why, 'PolicyDenied');
  return true;
}

/** Refuses providers that the policy does not have: clouds of Contrabass, and business clusters. */
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

/** Whether an origin is meant by a pattern; the port of the scheme may be written or left out on either side. */
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

/** What the operator's policy says of every call that leaves it; see createClouds. */
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

/** Whether the operator's configuration itself names the origin, so that it may be anywhere. */
export function isOwnPlace(url: URL, settings: OwnPlaces): boolean {
  const { contrabassEndpoint, violaEndpoint } = settings;
  const { openstackNeutronEndpoint, openstackNovaEndpoint } = settings;
  return (
    [contrabassEndpoint, violaEndpoint, openstackNeutronEndpoint, openstackNovaEndpoint].some(
      (own) => own !== undefined && new URL(own).origin === url.origin,
    ) || judgeEndpoint(url.origin, settings.allowedEndpoints) === 'trusted'
  );
}
