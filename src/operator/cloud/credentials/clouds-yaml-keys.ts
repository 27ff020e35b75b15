import { CloudsYamlError } from './clouds-yaml-error.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Older keys that openstacksdk accepts, with their current names. */
const aliases: Readonly<Record<string, string>> = {
  auth_plugin: 'auth_type',
  endpoint_type: 'interface',
  network_endpoint: 'network_endpoint_override',
  compute_endpoint: 'compute_endpoint_override',
};

const oneInterface = 'set interface, which applies to every service';
const oneRegion = 'set one region in region_name';
const noClientCertificate =
  'use a password or an application credential instead of a client certificate';

/** Keys that openstacksdk accepts and MultiNIC refuses, each with advice. */
const advices: Readonly<Record<string, string>> = {
  regions: oneRegion,
  network_region_name: oneRegion,
  compute_region_name: oneRegion,
  identity_region_name: oneRegion,
  network_interface: oneInterface,
  network_endpoint_type: oneInterface,
  compute_endpoint_type: oneInterface,
  compute_interface: oneInterface,
  identity_interface: oneInterface,
  identity_endpoint_override: 'set the Keystone URL in auth.auth_url',
  identity_endpoint: 'set the Keystone URL in auth.auth_url',
  cert: noClientCertificate,
  key: noClientCertificate,
  api_timeout: 'set spec.settings.openstackTimeout in the OpenstackConfig',
  timeout: 'set spec.settings.openstackTimeout in the OpenstackConfig',
  trust_id: 'use an application credential instead of a trust',
  passcode: 'use an application credential instead of a one-time password',
  system_scope: 'set the project of the servers instead',
};

/** Keys of openstacksdk for features outside MultiNIC; keys of unused services are recognised by prefix. */
const withoutEffect = new Set([
  'disable_vendor_agent',
  'external_network',
  'floating_ip_source',
  'internal_network',
  'message',
  'nat_destination',
  'nat_source',
  'networks',
  'requires_floating_ip',
  'secgroup_source',
  'status',
]);
const ofOtherServices =
  /^(?!network_|compute_|identity_)[a-z0-9_]+_(api_version|default_microversion|endpoint|endpoint_override|endpoint_type|interface|region_name|service_name|service_type|format|use_tasks)$/;

/**
 * Returns the cloud's fields under their current names, with all login options below `auth`, as in openstacksdk. Throws
 * CloudsYamlError for a refused key, and for a key given twice with different values.
 */
export function knownFields(
  cloud: Fields,
  { cloudKeys, authKeys }: Readonly<Record<'cloudKeys' | 'authKeys', ReadonlySet<string>>>,
  path: string,
): Fields {
  const { auth = {}, ...rest } = underscored(cloud, path);
  if (!isFields(auth)) return { ...rest, auth };
  const entries = Object.entries(underscored(auth, `${path}.auth`));
  const [login, known] = [new Fieldset(`${path}.auth`, entries), new Fieldset(path, [])];
  for (const [key, value] of Object.entries(rest)) {
    const current = aliases[key] ?? key;
    if (cloudKeys.has(current)) known.put(current, value, key);
    else if (authKeys.has(key)) login.put(key, value, key);
    else if (!withoutEffect.has(key) && !ofOtherServices.test(key)) throw refused(path, key);
  }
  const unknown = entries.find(([key]) => !authKeys.has(key));
  if (unknown) throw refused(`${path}.auth`, unknown[0]);
  return { ...Object.fromEntries(known.values), auth: Object.fromEntries(login.values) };
}

class Fieldset {
  readonly values: Map<string, unknown>;
  readonly #path: string;

  constructor(path: string, entries: readonly (readonly [string, unknown])[]) {
    this.values = new Map(entries);
    this.#path = path;
  }

  put(key: string, value: unknown, writtenAs: string): void {
    const before = this.values.get(key);
    if (before !== undefined && before !== value) {
      const which = writtenAs === key ? 'is set twice' : `and ${writtenAs} are the same field`;
      throw new CloudsYamlError(
        `${this.#path}.${key}: ${which}, with different values; remove one`,
      );
    }
    this.values.set(key, value);
  }
}

/** Replaces dashes, as openstacksdk does: `region-name` is `region_name`. */
function underscored(fields: Fields, path: string): Fields {
  const known = new Fieldset(path, []);
  for (const [key, value] of Object.entries(fields))
    known.put(key.replaceAll('-', '_'), value, key);
  return Object.fromEntries(known.values);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refused(path: string, key: string): CloudsYamlError {
  const advice = advices[key] ?? 'remove it';
  return new CloudsYamlError(`${path}.${keyInWords(key)}: is not supported; ${advice}`);
}

/** Returns a key for messages; a text unlike a key may be a misplaced secret. */
export function keyInWords(key: string): string {
  return /^[a-z][a-z0-9_-]{0,63}$/i.test(key) ? key : '<key>';
}
