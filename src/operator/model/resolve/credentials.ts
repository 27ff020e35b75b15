import { type OpenstackConfigSpec, openstackConfigSpec } from '../../../api/openstackconfig.ts';
import { urlText } from '../../../openstack/endpoint.ts';
import type { OperatorSettings } from '../settings/operator.ts';
import { type Endpoint, endpointOf } from './endpoints.ts';
import { type Fields, trimmed } from './fields.ts';
import { judgeEndpoint, refuseUnverified } from './policy.ts';

/** Source of the cloud account. */
export type CredentialsSource = ProviderSource | DirectSource | SecretSource;

/** Account from Contrabass. */
export interface ProviderSource {
  readonly kind: 'provider';
  readonly openstackProviderId: string;
  readonly projectId: string;
  readonly contrabass: Endpoint & {
    readonly timeoutMs: number;
    readonly insecure: boolean;
    /** CR field that switches off certificate verification; undefined: none does. */
    readonly unverifiedBy: string | undefined;
  };
  /** CR fields with an endpoint outside ALLOWED_ENDPOINTS that would receive cloud credentials. */
  readonly untrustedFields: readonly string[];
  readonly encryptKey: {
    readonly secretRef: { readonly name: string; readonly key: string } | undefined;
    /** Key in the CR, the last resort of earlier generations. */
    readonly plain: string | undefined;
  };
}

/** Account in the CR. */
export interface DirectSource {
  readonly kind: 'direct';
  readonly keystoneUrl: string;
  readonly username: string;
  readonly password: string;
  readonly domainName: string;
  readonly projectId: string;
  readonly neutronUrl: string | undefined;
  readonly novaUrl: string | undefined;
}

/** Account in the `clouds.yaml` of a Secret in the CR's namespace. */
export interface SecretSource {
  readonly kind: 'secret';
  readonly name: string;
  /** Project for a `clouds.yaml` without a project. */
  readonly projectId: string | undefined;
}

/** Returns the OpenstackConfig's business cluster: by default the cluster with the cloud's provider id. */
export function businessClusterOf(
  credentials: Pick<Credentials, 'k8sProviderID' | 'openstackProviderID'> = {},
  { defaultK8sProviderId }: Pick<OperatorSettings, 'defaultK8sProviderId'>,
): string | undefined {
  const { k8sProviderID, openstackProviderID } = credentials;
  return trimmed(k8sProviderID) ?? trimmed(openstackProviderID) ?? defaultK8sProviderId;
}

/** Returns the business cluster in the spec; undefined: none, or an unreadable spec. */
export function providerIdOf(
  { spec }: { readonly spec?: unknown },
  operator: Pick<OperatorSettings, 'defaultK8sProviderId'>,
): string | undefined {
  const parsed = openstackConfigSpec.safeParse(spec ?? {});
  return parsed.success ? businessClusterOf(parsed.data.credentials, operator) : undefined;
}

/** Returns the secrets readable in the object itself, each with a better place. */
export function secretsInSpec(source: CredentialsSource): string[] {
  const named = {
    provider: 'spec.settings.contrabassEncryptKey (use spec.secrets.contrabassEncryptKeySecretRef)',
    direct: 'spec.credentials.password (use spec.credentials.secretRef)',
  };
  if (source.kind === 'direct') return [named.direct];
  return source.kind === 'provider' && source.encryptKey.plain !== undefined
    ? [named.provider]
    : [];
}

type Credentials = OpenstackConfigSpec['credentials'];

/** Fields specific to a single form; every form may use `projectID` and `k8sProviderID`. */
const forms = {
  provider: ['openstackProviderID'],
  direct: ['authURL', 'username', 'password', 'domainName', 'networkEndpoint', 'computeEndpoint'],
  secret: ['secretRef'],
} as const satisfies Readonly<Record<CredentialsSource['kind'], readonly (keyof Credentials)[]>>;

/** Endpoints beside the credentials that change where credentials are sent. */
interface Places {
  readonly neutron: Endpoint;
  readonly nova: Endpoint;
}

/** Returns the credentials in their form; undefined: fields of two forms. Refuses unusable fields. */
export function resolveCredentials(
  spec: OpenstackConfigSpec,
  places: Places,
  operator: OperatorSettings,
  fields: Fields,
): CredentialsSource | undefined {
  const { credentials } = spec;
  const given = (Object.keys(forms) as CredentialsSource['kind'][]).flatMap((kind) => {
    const [named] = forms[kind].filter((key) => isGiven(credentials[key]));
    return named === undefined ? [] : [{ kind, named }];
  });
  const [form, other] = given;
  if (form && other) {
    const field = `spec.credentials.${other.named}`;
    const clash = `cannot be combined with spec.credentials.${form.named}; remove one of them`;
    fields.refuse(field, clash);
    return undefined;
  }
  if (form?.kind === 'direct') return direct(credentials, operator, fields);
  if (form?.kind === 'secret') return secret(credentials, places, fields);
  return provider(spec, places, operator, fields);
}

function isGiven(value: Credentials[keyof Credentials]): boolean {
  return typeof value === 'string' ? value.trim() !== '' : value !== undefined;
}

function required(credentials: Credentials, key: TextKey, fields: Fields): string {
  const value = trimmed(credentials[key]);
  if (value === undefined) fields.refuse(`spec.credentials.${key}`, 'is required');
  return value ?? '';
}

type TextKey = Exclude<keyof Credentials, 'secretRef'>;

function provider(
  spec: OpenstackConfigSpec,
  { neutron, nova }: Places,
  operator: OperatorSettings,
  fields: Fields,
): ProviderSource {
  const { credentials, settings = {}, secrets } = spec;
  const given = trimmed(settings.contrabassEndpoint);
  const source = { given, own: operator.contrabassEndpoint, env: 'CONTRABASS_ENDPOINT' };
  const contrabass = endpointOf('contrabassEndpoint', source, operator, fields);
  refuseUnverified('contrabassInsecureTLS', spec, [contrabass.url], operator, fields);
  const { contrabassTimeout } = settings;
  return {
    kind: 'provider',
    openstackProviderId: required(credentials, 'openstackProviderID', fields),
    projectId: required(credentials, 'projectID', fields),
    contrabass: {
      ...contrabass,
      timeoutMs: fields.timeout('contrabassTimeout', contrabassTimeout, operator.contrabassTimeout),
      insecure: settings.contrabassInsecureTLS ?? operator.contrabassInsecureTls,
      unverifiedBy:
        settings.contrabassInsecureTLS === true && !operator.contrabassInsecureTls
          ? 'spec.settings.contrabassInsecureTLS is true'
          : undefined,
    },
    untrustedFields: untrusted(contrabass, neutron, nova),
    encryptKey: {
      secretRef: secrets?.contrabassEncryptKeySecretRef,
      plain: trimmed(settings.contrabassEncryptKey),
    },
  };
}

function untrusted(...places: readonly Endpoint[]): string[] {
  return places.flatMap(({ trusted, field }) => (trusted ? [] : [field]));
}

function direct(
  credentials: Credentials,
  operator: OperatorSettings,
  fields: Fields,
): DirectSource {
  // Untrimmed, because blanks may be part of a password.
  const { password = '' } = credentials;
  if (password === '') fields.refuse('spec.credentials.password', 'is required');
  const place = (key: TextKey): string | undefined => {
    const url = trimmed(credentials[key]);
    if (url === undefined) return undefined;
    const verdict = judgeEndpoint(url, operator.allowedEndpoints);
    if (typeof verdict === 'object') {
      const why = `${urlText(url)} ${verdict.denied}`;
      fields.refuse(`spec.credentials.${key}`, why, 'PolicyDenied');
    }
    return url;
  };
  const authUrl = place('authURL');
  const defaults = defaultPlaces(authUrl, operator);
  return {
    kind: 'direct',
    keystoneUrl: authUrl ?? defaults.keystone ?? required(credentials, 'authURL', fields),
    username: required(credentials, 'username', fields),
    password,
    domainName: trimmed(credentials.domainName) ?? 'Default',
    projectId: required(credentials, 'projectID', fields),
    neutronUrl: place('networkEndpoint') ?? defaults.neutron,
    novaUrl: place('computeEndpoint') ?? defaults.nova,
  };
}

/**
 * Returns the operator's default endpoints. A token of another Keystone must not reach the default Neutron and Nova.
 */
function defaultPlaces(authUrl: string | undefined, operator: OperatorSettings) {
  const keystone = operator.openstackDefaultAuthUrl;
  const isOtherCloud =
    authUrl !== undefined && keystone !== undefined && authUrl.replace(/\/+$/, '') !== keystone;
  if (isOtherCloud) return { keystone, neutron: undefined, nova: undefined };
  return {
    keystone,
    neutron: operator.openstackDefaultNeutronEndpoint,
    nova: operator.openstackDefaultNovaEndpoint,
  };
}

/**
 * Returns the Secret's reference. The CR's author may be unable to read the Secret, and must not choose where its
 * contents are sent.
 */
function secret(
  { secretRef, projectID }: Credentials,
  { neutron, nova }: Places,
  fields: Fields,
): SecretSource {
  const name = trimmed(secretRef?.name) ?? '';
  if (name === '') fields.refuse('spec.credentials.secretRef.name', 'is required');
  for (const field of untrusted(neutron, nova)) {
    const why = `is not in the operator's ALLOWED_ENDPOINTS, so no token of Secret "${name}" is sent there`;
    const fix = 'add it to ALLOWED_ENDPOINTS, or set it in the clouds.yaml';
    fields.refuse(field, `${why}; ${fix}`, 'PolicyDenied');
  }
  return { kind: 'secret', name, projectId: trimmed(projectID) };
}
