import { parseDocument, YAMLParseError } from 'yaml';
import * as z from 'zod';
import type { CloudAuth, DomainRef, InDomain } from '../../../openstack/cloud-identity.ts';
import { CloudsYamlError } from './clouds-yaml-error.ts';
import { keyInWords, knownFields } from './clouds-yaml-keys.ts';

/** The only cloud in a `clouds.yaml` (openstacksdk, "Configuration"), with the supported fields. */
export interface YamlCloud {
  readonly keystoneUrl: string;
  readonly auth: CloudAuth;
  readonly region: string | undefined;
  readonly interface: 'public' | 'internal' | 'admin' | undefined;
  readonly neutronUrl: string | undefined;
  readonly novaUrl: string | undefined;
  /** False: certificates are not verified; undefined: not set. */
  readonly verify: boolean | undefined;
  /** Key of the Secret, or a file path on the author's machine. */
  readonly cacert: string | undefined;
}

const text = z
  .string('must be a string')
  .transform((value) => value.trim())
  .transform((value) => (value === '' ? undefined : value))
  .optional();
/** Validates a URL here, because this message shows no value: the field may hold a misplaced secret. */
const url = text.refine(
  (value) => value === undefined || /^https?:$/.test(URL.parse(value)?.protocol ?? ''),
  'must be a URL such as https://keystone.example:5000',
);
/** Untrimmed, because blanks may be part of a secret. */
const secret = z.string('must be a string').optional();
/** YAML 1.1 booleans, as read by PyYAML. */
const flag = z
  .string('must be true or false')
  .toLowerCase()
  .pipe(z.enum(['true', 'false', 'yes', 'no', 'on', 'off'], 'must be true or false'))
  .transform((word) => ['true', 'yes', 'on'].includes(word))
  .optional();
/** The minor version is ignored: calls always use Neutron v2.0 and Nova v2.1. */
const apiVersion = z
  .string()
  .regex(/^(v?2(\.\d+)?)?$/, 'must be 2: no other version is supported')
  .optional();

const authSchema = z.strictObject({
  auth_url: url,
  username: text,
  user_id: text,
  password: secret,
  user_domain_name: text,
  user_domain_id: text,
  project_id: text,
  project_name: text,
  project_domain_name: text,
  project_domain_id: text,
  // Domain of both user and project.
  domain_name: text,
  domain_id: text,
  default_domain: text,
  tenant_id: text,
  tenant_name: text,
  application_credential_id: text,
  application_credential_name: text,
  application_credential_secret: secret,
});
type Auth = z.infer<typeof authSchema>;

const passwordTypes = ['password', 'v3password'];
const credentialTypes = ['v3applicationcredential', 'application_credential'];
const interfaces = ['public', 'internal', 'admin'] as const;

const cloudSchema = z.strictObject({
  auth: authSchema,
  auth_type: z.enum([...passwordTypes, ...credentialTypes]).optional(),
  region_name: text,
  interface: z
    .string()
    .transform((value) => value.trim().replace(/URL$/, ''))
    .pipe(z.enum(interfaces))
    .optional(),
  network_endpoint_override: url,
  compute_endpoint_override: url,
  verify: flag,
  insecure: flag,
  network_api_version: apiVersion,
  compute_api_version: apiVersion,
  cacert: text,
  identity_api_version: z
    .string()
    .regex(/^(v?3(\.\d+)?)?$/, 'must be 3: no other version is supported')
    .optional(),
  profile: z
    .undefined('is not supported; set auth_url and the other fields of the profile')
    .optional(),
});
type CloudFields = z.infer<typeof cloudSchema>;

const keys = {
  cloudKeys: new Set(Object.keys(cloudSchema.shape)),
  authKeys: new Set(Object.keys(authSchema.shape)),
};
const mapping = z.record(z.string(), z.unknown(), 'must be fields such as auth and region_name');

const fileSchema = z.object(
  { clouds: z.record(z.string(), z.unknown(), 'is missing; add one cloud below it') },
  'must begin with "clouds:" and one cloud below it',
);

/** Characters; a cloud takes some hundred. A map of 60,000 keys fits a Secret and takes minutes to parse. */
const longestText = 16_384;

/**
 * Reads the only cloud in a `clouds.yaml`; `projectId` is used when the cloud names no project. Throws CloudsYamlError.
 */
export function readCloudsYaml(yaml: string, projectId?: string): YamlCloud {
  const { clouds } = checked(fileSchema, parsed(yaml), []);
  const [entry, ...others] = Object.entries(clouds);
  if (entry === undefined) throw new CloudsYamlError('clouds: has no cloud; add exactly one');
  if (others.length > 0) {
    const names = Object.keys(clouds).join(', ');
    throw new CloudsYamlError(`clouds: has several clouds (${names}); keep exactly one`);
  }
  const [name, value] = entry;
  const path = ['clouds', name];
  const fields = knownFields(checked(mapping, value, path), keys, path.join('.'));
  const cloud = checked(cloudSchema, fields, path);
  const { auth_url: keystoneUrl } = cloud.auth;
  if (keystoneUrl === undefined) throw missing(path, 'auth_url');
  return {
    keystoneUrl,
    auth: usesCredential(cloud)
      ? credential(cloud.auth, path)
      : password(cloud.auth, path, projectId),
    region: cloud.region_name,
    interface: cloud.interface,
    neutronUrl: cloud.network_endpoint_override,
    novaUrl: cloud.compute_endpoint_override,
    verify: cloud.insecure ? false : cloud.verify,
    cacert: cloud.cacert,
  };
}

/** YAML as read by PyYAML, but every scalar is text or null: a project id of digits is no number. */
const reading = {
  schema: 'failsafe',
  customTags: ['null'],
  merge: true,
  prettyErrors: false,
  // Warnings quote their input, and bypass our log.
  logLevel: 'error',
} as const;

function parsed(yaml: string): unknown {
  if (yaml.length > longestText) {
    throw new CloudsYamlError(
      `has ${yaml.length} characters, at most ${longestText} are allowed; keep exactly one cloud`,
    );
  }
  try {
    const document = parseDocument(yaml, { ...reading, customTags: [...reading.customTags] });
    const [error] = document.errors;
    if (error) throw error;
    return withoutNothing(document.toJS());
  } catch (error) {
    // The error quotes the line, which may hold a secret.
    throw new CloudsYamlError(keyGivenTwice(yaml, error) ?? 'is not YAML');
  }
}

/** Returns a message for a duplicate key; PyYAML silently takes the last. */
function keyGivenTwice(yaml: string, error: unknown): string | undefined {
  if (!(error instanceof YAMLParseError) || error.code !== 'DUPLICATE_KEY') return undefined;
  const [at] = error.pos;
  const [key = ''] = /^("[^"]*"|'[^']*'|[^:\s]*)/.exec(yaml.slice(at)) ?? [];
  const line = yaml.slice(0, at).split('\n').length;
  return `line ${line}: ${keyInWords(key.replaceAll(/^["']|["']$/g, ''))} is set twice; remove one`;
}

/** Drops null fields, as openstacksdk does. */
function withoutNothing(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutNothing);
  const entries = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutNothing(inner)]));
}

function checked<T>(schema: z.ZodType<T>, value: unknown, path: readonly string[]): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const flaws = result.error.issues.map(({ path: at, message }) =>
    [[...path, ...at].join('.'), message].filter(Boolean).join(': '),
  );
  throw new CloudsYamlError(flaws.join('; '));
}

function missing(path: readonly string[], key: string): CloudsYamlError {
  return new CloudsYamlError(`${[...path, 'auth', key].join('.')}: is required`);
}

function usesCredential({ auth, auth_type: type }: CloudFields): boolean {
  if (type !== undefined) return credentialTypes.includes(type);
  return auth.application_credential_secret !== undefined;
}

function credential(auth: Auth, path: readonly string[]): CloudAuth {
  const { application_credential_secret: given, application_credential_id: id } = auth;
  if (!given) throw missing(path, 'application_credential_secret');
  const kind = 'applicationCredential';
  if (id !== undefined) return { kind, credential: { id }, secret: given };
  const { application_credential_name: name } = auth;
  if (name === undefined) throw missing(path, 'application_credential_id');
  return { kind, credential: { name, user: userOf(auth, path) }, secret: given };
}

function password(auth: Auth, path: readonly string[], projectId: string | undefined): CloudAuth {
  if (!auth.password) throw missing(path, 'password');
  const user = userOf(auth, path);
  return {
    kind: 'password',
    user,
    password: auth.password,
    project: projectOf(auth, path, projectId),
  };
}

function userOf(auth: Auth, path: readonly string[]): InDomain {
  if (auth.user_id !== undefined) return { id: auth.user_id };
  if (auth.username === undefined) throw missing(path, 'username');
  return { name: auth.username, domain: domainOf(auth, 'user') };
}

function projectOf(auth: Auth, path: readonly string[], otherwise: string | undefined): InDomain {
  const id = auth.project_id ?? auth.tenant_id;
  if (id !== undefined) return { id };
  const name = auth.project_name ?? auth.tenant_name;
  if (name !== undefined) return { name, domain: domainOf(auth, 'project') };
  if (otherwise === undefined) throw missing(path, 'project_id');
  return { id: otherwise };
}

/** Returns the domain; the default is Keystone's initial domain, as in openstacksdk. */
function domainOf(auth: Auth, whose: 'user' | 'project'): DomainRef {
  const id = auth[`${whose}_domain_id`] ?? auth.domain_id;
  if (id !== undefined) return { id };
  const name = auth[`${whose}_domain_name`] ?? auth.domain_name;
  return name === undefined ? { id: auth.default_domain ?? 'default' } : { name };
}
