import type { Routing } from '../../../api/multinicnodeconfig.ts';
import {
  type AddressFamily,
  type OpenstackConfigSpec,
  openstackConfigSpec,
} from '../../../api/openstackconfig.ts';
import { parseTime } from '../../../plan/entry.ts';
import type { ConfigObject } from '../openstack-config.ts';
import { type Polling, shortestPollMs } from '../polling.ts';
import type { OperatorSettings } from '../settings/operator.ts';
import { businessClusterOf, type CredentialsSource, resolveCredentials } from './credentials.ts';
import { resolveEndpoints, type ServiceEndpoint, type ViolaEndpoint } from './endpoints.ts';
import { type FieldProblem, Fields, trimmed } from './fields.ts';
import { refuseForLegacyViola } from './legacy-viola.ts';
import { isOfDeniedNamespace, refuseCluster, refuseProviders, refuseUnverified } from './policy.ts';
import { type ServerSelector, serverSelector } from './servers.ts';

/** An OpenstackConfig with all settings resolved: CR before operator before default. */
export interface ResolvedConfig {
  /** Business cluster, sent as `x-provider-id`. */
  readonly providerId: string;
  readonly credentials: CredentialsSource;
  readonly viola: ViolaEndpoint;
  readonly openstack: {
    readonly timeoutMs: number;
    /** The CR's own values; the account's values come next, then the operator's settings. */
    readonly given: {
      readonly insecure: boolean | undefined;
      readonly interface: 'public' | 'internal' | 'admin' | undefined;
      readonly region: string | undefined;
    };
    /** With a URL, these endpoints override every other source. */
    readonly neutron: ServiceEndpoint;
    readonly nova: ServiceEndpoint;
  };
  readonly servers: ServerSelector;
  readonly subnets: Exclude<SubnetSelector, { kind: 'none' }>;
  readonly statuses: 'any' | readonly string[];
  readonly createdAfter: string | undefined;
  readonly maxInterfaces: number;
  readonly addressFamilies: readonly AddressFamily[];
  readonly routing: Routing;
  readonly nodeNameKey: string | undefined;
  readonly downPortFastRetryMax: number;
  readonly polling: Polling;
  /** Settings reduced to a limit, for status messages. */
  readonly capped: readonly string[];
}

export type Resolution =
  | { readonly kind: 'resolved'; readonly config: ResolvedConfig }
  | { readonly kind: 'refused'; readonly problems: readonly FieldProblem[] };

/** Resolves an OpenstackConfig's settings, or returns every unusable field. */
export function resolveConfig(object: ConfigObject, operator: OperatorSettings): Resolution {
  const parsed = openstackConfigSpec.safeParse(object.spec ?? {});
  const fields = new Fields();
  if (isOfDeniedNamespace(object, operator, fields)) {
    return { kind: 'refused', problems: fields.problems };
  }
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues) {
      fields.refuse(['spec', ...path].join('.'), message);
    }
    return { kind: 'refused', problems: fields.problems };
  }
  const spec = parsed.data;
  refuseProviders(spec.credentials, operator, fields);
  const endpoints = resolveEndpoints(spec, operator, fields);
  const credentials = resolveCredentials(spec, endpoints.openstack, operator, fields);
  refuseUnverified('openstackInsecureTLS', spec, placesIn(spec), operator, fields);
  const config = {
    providerId: businessCluster(spec, object, operator, fields),
    ...endpoints,
    ...resolveSelection(spec, operator, object, fields),
    polling: polling(spec, operator, fields),
    capped: fields.capped,
  };
  refuseForLegacyViola(config, spec.settings ?? {}, operator, fields);
  const { subnets } = config;
  if (subnets.kind === 'none') {
    fields.refuse('subnetIDs, subnetID or subnetName', 'is required', 'SubnetRequired');
  }
  return fields.problems.length > 0 || subnets.kind === 'none' || credentials === undefined
    ? { kind: 'refused', problems: fields.problems }
    : { kind: 'resolved', config: { ...config, credentials, subnets } };
}

/** Returns the CR's own endpoints; further endpoints are checked when account or catalog name them. */
function placesIn({ credentials, settings = {} }: OpenstackConfigSpec): readonly string[] {
  const { authURL, networkEndpoint, computeEndpoint } = credentials;
  const { openstackNeutronEndpoint, openstackNovaEndpoint } = settings;
  return [
    authURL,
    networkEndpoint,
    computeEndpoint,
    openstackNeutronEndpoint,
    openstackNovaEndpoint,
  ].flatMap((text) => trimmed(text) ?? []);
}

function businessCluster(
  { credentials }: OpenstackConfigSpec,
  object: ConfigObject,
  operator: OperatorSettings,
  fields: Fields,
): string {
  const providerId = businessClusterOf(credentials, operator);
  if (providerId === undefined) {
    const fix = 'is required without openstackProviderID (or set DEFAULT_K8S_PROVIDER_ID)';
    fields.refuse('spec.credentials.k8sProviderID', fix);
  } else refuseCluster(providerId, object, operator, fields);
  return providerId ?? '';
}

function polling(spec: OpenstackConfigSpec, operator: OperatorSettings, fields: Fields): Polling {
  const settings = spec.settings ?? {};
  const interval = (key: 'pollFastInterval' | 'pollSlowInterval' | 'pollErrorInterval') =>
    fields.duration(`spec.settings.${key}`, settings[key], operator[key], shortestPollMs);
  const fastMs = interval('pollFastInterval');
  const window = settings.pollFastWindow;
  return {
    fastMs,
    // The slow interval is at least the fast interval, as in all earlier generations.
    slowMs: Math.max(fastMs, interval('pollSlowInterval')),
    errorMs: interval('pollErrorInterval'),
    windowMs: fields.duration('spec.settings.pollFastWindow', window, operator.pollFastWindow, 0),
  };
}

/** Resolves the selection of servers, subnets and ports, with its limits. */
function resolveSelection(
  spec: OpenstackConfigSpec,
  operator: OperatorSettings,
  { metadata }: ConfigObject,
  fields: Fields,
) {
  const settings = spec.settings ?? {};
  const { portBaseline, maxInterfaces = 10, downPortFastRetryMax } = settings;
  const { addressFamilies = ['IPv4'], routing = 'pbr' } = settings;
  if (addressFamilies.length === 0) {
    fields.refuse('spec.settings.addressFamilies', 'is empty; use [IPv4], [IPv6] or both');
  }
  const retries = operator.downPortFastRetryMax;
  return {
    servers: serverSelector(spec, fields),
    subnets: subnetSelector(spec),
    statuses: statuses(settings.openstackPortAllowedStatuses, operator),
    createdAfter: baseline(portBaseline, metadata.creationTimestamp, fields),
    maxInterfaces,
    addressFamilies,
    routing,
    nodeNameKey:
      trimmed(settings.openstackNodeNameMetadataKey) ?? operator.openstackNodeNameMetadataKey,
    // Values below 1 have always counted as 1.
    downPortFastRetryMax: Math.max(1, downPortFastRetryMax ?? retries),
  };
}

function statuses(given: readonly string[] | undefined, operator: OperatorSettings) {
  const list = given && given.length > 0 ? given : operator.openstackPortAllowedStatuses;
  const words = list.map((word) => word.trim().toUpperCase()).filter((word) => word !== '');
  return words.length === 0 || words.includes('*') ? ('any' as const) : words;
}

function baseline(given: string | undefined, created: string | undefined, fields: Fields) {
  const text = trimmed(given) ?? 'CreatedAfterConfig';
  if (text === 'CreatedAfterConfig') return created;
  if (text === 'All') return undefined;
  if (parseTime(text) === undefined) {
    const forms = 'CreatedAfterConfig, All or a time such as 2026-01-02T03:04:05Z';
    fields.refuse('spec.settings.portBaseline', `"${text}" is unknown; use ${forms}`);
  }
  return text;
}

/** An OpenstackConfig's subnet selector, before the lookup of names. */
export type SubnetSelector =
  | { readonly kind: 'ids'; readonly ids: readonly string[] }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'none' };

interface SubnetFields {
  readonly subnetIDs?: readonly string[] | undefined;
  readonly subnetID?: string | undefined;
  readonly subnetName?: string | undefined;
}

/**
 * Returns the selector; ids in lower case, as Neutron compares them, in their order. `subnetIDs` wins over `subnetID`,
 * which wins over `subnetName`; blanks are ignored.
 */
export function subnetSelector(fields: SubnetFields): SubnetSelector {
  const ids = unique(fields.subnetIDs ?? []);
  if (ids.length > 0) return { kind: 'ids', ids };
  const single = unique([fields.subnetID ?? '']);
  if (single.length > 0) return { kind: 'ids', ids: single };
  const name = fields.subnetName?.trim() ?? '';
  return name === '' ? { kind: 'none' } : { kind: 'name', name };
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts.map((text) => text.trim().toLowerCase()).filter((text) => text !== ''))];
}
