import type { OpenstackConfigSpec } from '../../../api/openstackconfig.ts';
import type { CatalogLimits } from '../../../openstack/cloud-identity.ts';
import { urlText } from '../../../openstack/endpoint.ts';
import { innerKindOf } from '../../../requests/inner-addresses.ts';
import { proxiesOf } from '../../../requests/proxies.ts';
import type { ConfigObject } from '../openstack-config.ts';
import type { OperatorSettings } from '../settings/operator.ts';
import { type Fields, trimmed } from './fields.ts';

/** Verdict about an endpoint of an OpenstackConfig: allowed with the operator's secrets, without them, or denied. */
type EndpointVerdict =
  /** ALLOWED_ENDPOINTS names the origin: requests may carry the operator's secrets. */
  | 'trusted'
  /** Requests carry no secret of the operator, because the author of the OpenstackConfig chose the endpoint. */
  | 'open'
  | { readonly denied: string };

/**
 * Checks a URL against allowed origins `scheme://host[:port]`. `*` in a host matches one DNS label, `*` alone matches
 * every origin. An empty list allows all addresses but loopback and link-local ones, where clouds serve instance
 * metadata. The addresses of a host name are checked when it is resolved.
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

/** Returns why requests to a URL are denied; undefined: allowed. For URLs that no OpenstackConfig contains. */
export function deniedEndpoint(url: string, allowed: readonly string[]): string | undefined {
  const verdict = judgeEndpoint(url, allowed);
  return typeof verdict === 'object' ? verdict.denied : undefined;
}

/**
 * Returns why the certificate of a URL must be verified, even if the OpenstackConfig or its Secret turns verification
 * off; undefined: verification is not required, or the URL has no TLS.
 */
export function mustBeVerified(url: string, insecure: readonly string[]): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { origin, protocol } = new URL(url);
  if (protocol !== 'https:') return undefined;
  const isAllowed = insecure.some((pattern) => pattern === '*' || matches(pattern, origin));
  return isAllowed ? undefined : "is not in the operator's INSECURE_TLS_ENDPOINTS";
}

/** Settings of an OpenstackConfig that turn certificate verification off, each with the operator's own setting. */
const switches = {
  contrabassInsecureTLS: 'contrabassInsecureTls',
  openstackInsecureTLS: 'openstackInsecureTls',
} as const;

/** Refuses an OpenstackConfig that turns verification off for an endpoint outside INSECURE_TLS_ENDPOINTS. */
export function refuseUnverified(
  key: keyof typeof switches,
  { settings = {} }: OpenstackConfigSpec,
  urls: readonly string[],
  operator: OperatorSettings,
  fields: Fields,
): void {
  // The operator's own setting already turns verification off for all OpenstackConfigs.
  if (settings[key] !== true || operator[switches[key]]) return;
  for (const url of new Set(urls)) {
    const why = mustBeVerified(url, operator.insecureTlsEndpoints);
    if (why === undefined) continue;
    fields.refuse(`spec.settings.${key}`, `is true, but ${urlText(url)} ${why}`, 'PolicyDenied');
  }
}

/** Returns why requests to a URL of Keystone's catalog are denied; undefined: allowed. */
export function deniedInCatalog(url: string, limits: CatalogLimits): string | undefined {
  const { allowedEndpoints = [], unverified } = limits;
  const denied = deniedEndpoint(url, allowedEndpoints);
  if (denied !== undefined || unverified === undefined) return denied;
  const why = mustBeVerified(url, unverified.endpoints);
  return why && `${why}, and ${unverified.by}`;
}

/** ALLOWED_NAMESPACES and ALLOWED_PROVIDERS (clouds and business clusters); an empty list allows all. */
type Admission = Pick<OperatorSettings, 'allowedNamespaces' | 'allowedProviders'>;

/** Refuses an OpenstackConfig outside the allowed namespaces; returns true if the other fields need no check. */
export function isOfDeniedNamespace(
  { metadata: { namespace = '' } }: ConfigObject,
  { allowedNamespaces }: Admission,
  fields: Fields,
): boolean {
  if (allowedNamespaces.length === 0 || allowedNamespaces.includes(namespace)) return false;
  // The message lists no allowed namespace: the author may not learn the names of other tenants.
  const why = `"${namespace}" is not in the operator's ALLOWED_NAMESPACES`;
  fields.refuse('metadata.namespace', why, 'PolicyDenied');
  return true;
}

/** Refuses clouds of Contrabass and business clusters outside ALLOWED_PROVIDERS. */
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

/**
 * Returns whether NAMESPACE_CLUSTERS lets a namespace deliver to a business cluster; an empty list allows all. Removals
 * need no permission: a deletion, or a move to another business cluster, only removes NICs of the OpenstackConfig itself.
 */
export function mayDeliver(
  namespace: string,
  cluster: string,
  { namespaceClusters }: Pick<OperatorSettings, 'namespaceClusters'>,
): boolean {
  const isMatch = (entry: string) => {
    const at = entry.indexOf('=');
    return isLike(namespace, entry.slice(0, at)) && isLike(cluster, entry.slice(at + 1));
  };
  return namespaceClusters.length === 0 || namespaceClusters.some(isMatch);
}

/** Refuses a business cluster that NAMESPACE_CLUSTERS does not list for the namespace. */
export function refuseCluster(
  cluster: string,
  { metadata: { namespace = '' } }: ConfigObject,
  operator: Pick<OperatorSettings, 'namespaceClusters'>,
  fields: Fields,
): void {
  if (mayDeliver(namespace, cluster, operator)) return;
  const why = `"${cluster}" is not a business cluster of namespace "${namespace}" in the operator's NAMESPACE_CLUSTERS`;
  const next = `set an allowed business cluster, or let an administrator add ${namespace}=${cluster}`;
  fields.refuse('spec.credentials.k8sProviderID', `${why}; ${next}`, 'PolicyDenied');
}

/** Returns whether text matches a pattern in which `*` stands for any text. */
function isLike(text: string, pattern: string): boolean {
  return new RegExp(`^${literals(pattern).join('.*')}$`, 's').test(text);
}

/** Returns the parts of a pattern between its `*`, escaped for a regular expression. */
function literals(pattern: string): string[] {
  return pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
}

/** Returns whether a pattern matches an origin; the scheme's default port is optional on either side. */
function matches(pattern: string, origin: string): boolean {
  if (!pattern.includes('*')) return new URL(pattern).origin === origin;
  const parts = literals(pattern.toLowerCase().replace(/\/+$/, ''));
  const meant = new RegExp(`^${parts.join('[^./:]+')}$`);
  const { protocol, port } = new URL(origin);
  const usual = protocol === 'https:' ? '443' : '80';
  return meant.test(origin) || (port === '' && meant.test(`${origin}:${usual}`));
}

/** Returns the operator's policy for requests to OpenStack; see createClouds. */
export function rulesOf(settings: OperatorSettings) {
  return {
    isTrusted: (url: URL) => isOwnEndpoint(url, settings),
    denied: deniedInCatalog,
    proxyOf: proxiesOf(settings),
  };
}

type OwnEndpoints = Pick<
  OperatorSettings,
  | 'allowedEndpoints'
  | 'contrabassEndpoint'
  | 'violaEndpoint'
  | 'openstackNeutronEndpoint'
  | 'openstackNovaEndpoint'
>;

/** Returns whether the operator's own settings name the origin; its host may then resolve to any address. */
export function isOwnEndpoint(url: URL, settings: OwnEndpoints): boolean {
  const { contrabassEndpoint, violaEndpoint } = settings;
  const { openstackNeutronEndpoint, openstackNovaEndpoint } = settings;
  return (
    [contrabassEndpoint, violaEndpoint, openstackNeutronEndpoint, openstackNovaEndpoint].some(
      (own) => own !== undefined && new URL(own).origin === url.origin,
    ) || judgeEndpoint(url.origin, settings.allowedEndpoints) === 'trusted'
  );
}
