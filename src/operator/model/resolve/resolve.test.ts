import { describe, expect, it } from 'vitest';
import type { AddressFamily, OpenstackConfigSpec } from '../../../api/openstackconfig.ts';
import { readSettings } from '../../../process/settings.ts';
import { environment, serverIds, spec } from '../../testing/scene.ts';
import { operatorSettings } from '../settings/operator.ts';
import { type Resolution, type ResolvedConfig, resolveConfig } from './resolve.ts';

type Settings = NonNullable<OpenstackConfigSpec['settings']>;

function resolve(
  change: Partial<OpenstackConfigSpec>,
  env: Readonly<Record<string, string>> = environment,
): Resolution {
  const metadata = { name: 'osc', creationTimestamp: '2026-01-01T00:00:00Z' };
  const settings = readSettings(operatorSettings, { env, flags: {} });
  return resolveConfig({ metadata, spec: { ...spec, ...change } }, settings);
}

function configOf(settings: Settings, env = environment): ResolvedConfig {
  const resolution = resolve({ settings }, env);
  if (resolution.kind === 'resolved') return resolution.config;
  throw new Error(resolution.problems.map(({ message }) => message).join('; '));
}

function problemsOf(change: Partial<OpenstackConfigSpec>, env = environment): string[] {
  const resolution = resolve(change, env);
  return resolution.kind === 'refused'
    ? resolution.problems.map(({ reason, message }) => `${reason}: ${message}`)
    : [];
}

describe('settings of an OpenstackConfig', () => {
  it.each([1, 10])('maxInterfaces %i is accepted', (maxInterfaces) => {
    expect(configOf({ maxInterfaces })).toMatchObject({ maxInterfaces });
  });

  it.each([0, 11, 2.5])('maxInterfaces %d is refused', (maxInterfaces) => {
    expect(problemsOf({ settings: { maxInterfaces } })).toEqual([
      expect.stringContaining('spec.settings.maxInterfaces'),
    ]);
  });

  it("settings have the legacy system's defaults", () => {
    expect(configOf({})).toMatchObject({
      providerId: 'biz-1',
      credentials: {
        kind: 'provider',
        contrabass: { url: 'https://contrabass.test', timeoutMs: 30_000, insecure: false },
      },
      viola: { url: 'https://viola.test', trusted: true },
      openstack: { timeoutMs: 30_000, neutron: { url: '' }, nova: { url: '' } },
      subnets: { kind: 'ids', ids: ['sub-a'] },
      servers: { ids: serverIds.slice(0, 2), names: [], carrying: undefined },
      addressFamilies: ['IPv4'],
      routing: 'pbr',
      statuses: ['ACTIVE', 'DOWN'],
      createdAfter: '2026-01-01T00:00:00Z',
      maxInterfaces: 10,
      downPortFastRetryMax: 5,
      polling: { fastMs: 20_000, slowMs: 120_000, errorMs: 30_000, windowMs: 180_000 },
    });
  });

  it('settings come from the environment, and the CR overrides the environment', () => {
    const env = {
      ...environment,
      OPENSTACK_TIMEOUT: '5s',
      OPENSTACK_NEUTRON_ENDPOINT: 'https://neutron.test/',
      OPENSTACK_NODE_NAME_METADATA_KEY: 'node',
      OPENSTACK_PORT_ALLOWED_STATUSES: 'active, build',
      DOWN_PORT_FAST_RETRY_MAX: '7',
      POLL_FAST_INTERVAL: '2s',
    };
    expect(configOf({}, env)).toMatchObject({
      openstack: { timeoutMs: 5_000, neutron: { url: 'https://neutron.test', isGiven: false } },
      nodeNameKey: 'node',
      statuses: ['ACTIVE', 'BUILD'],
      downPortFastRetryMax: 7,
      polling: { fastMs: 2_000 },
    });
    const settings: Settings = {
      openstackTimeout: '1m30s',
      openstackInsecureTLS: false,
      openstackEndpointInterface: 'Admin',
      openstackPortAllowedStatuses: ['*'],
      downPortFastRetryMax: 0,
      pollFastInterval: '3s',
      pollSlowInterval: '1s',
    };
    expect(configOf(settings, env)).toMatchObject({
      openstack: { timeoutMs: 90_000, given: { insecure: false, interface: 'admin' } },
      statuses: 'any',
      downPortFastRetryMax: 1,
      polling: { fastMs: 3_000, slowMs: 3_000 },
    });
  });

  it('[W17] a timeout above five minutes counts as five minutes, and is reported', () => {
    const config = configOf({ openstackTimeout: '2562047h', contrabassTimeout: '6m' });
    expect(config).toMatchObject({
      openstack: { timeoutMs: 300_000 },
      credentials: { contrabass: { timeoutMs: 300_000 } },
    });
    expect(config?.capped.toSorted()).toEqual([
      'spec.settings.contrabassTimeout "6m" is reduced to 5m, the longest timeout',
      'spec.settings.openstackTimeout "2562047h" is reduced to 5m, the longest timeout',
    ]);
    expect(configOf({ openstackTimeout: '5m' })?.capped).toEqual([]);
  });

  it('[W17] an operator timeout above five minutes counts as five minutes', () => {
    const config = configOf({}, { ...environment, OPENSTACK_TIMEOUT: '1h' });
    expect(config).toMatchObject({ openstack: { timeoutMs: 300_000 } });
    expect(config?.capped).toEqual([
      "the operator's setting openstackTimeout is reduced to 5m, the longest timeout",
    ]);
  });

  it.each([
    ['contrabassTimeout', '0s', 'is too short'],
    ['openstackTimeout', '-1s', 'is too short'],
    ['openstackTimeout', 'soon', 'is not a duration'],
    ['pollFastInterval', '1ms', 'is too short; the minimum is 1000 ms'],
    ['pollSlowInterval', '0', 'is too short'],
    ['pollErrorInterval', '999ms', 'is too short'],
    ['pollFastWindow', '-1s', 'is too short'],
    ['openstackEndpointInterface', 'intern', 'is unknown; use public, internal or admin'],
    ['portBaseline', 'Never', 'is unknown; use CreatedAfterConfig, All or a time'],
    ['violaEndpoint', 'viola', 'is not a URL such as'],
  ])('%s cannot be "%s"', (key, value, why) => {
    const [problem] = problemsOf({ settings: { [key]: value } });
    expect(problem).toContain(`spec.settings.${key} "${value}" ${why}`);
  });

  it('a missing required setting is reported with its environment variable', () => {
    expect(problemsOf({}, {})).toEqual([
      'ConfigError: spec.settings.violaEndpoint is required (or set VIOLA_ENDPOINT)',
      'ConfigError: spec.settings.contrabassEndpoint is required (or set CONTRABASS_ENDPOINT)',
    ]);
  });

  it('portBaseline may be All or a time', () => {
    expect(configOf({ portBaseline: 'All' }).createdAfter).toBeUndefined();
    const time = '2025-06-01T00:00:00+09:00';
    expect(configOf({ portBaseline: time }).createdAfter).toBe(time);
  });
});

describe('routing and addressFamilies', () => {
  it.each(['pbr', 'main', 'isolated'] as const)('routing %s is accepted', (routing) => {
    expect(configOf({ routing }).routing).toBe(routing);
  });

  it.each([[['IPv4']], [['IPv6']], [['IPv6', 'IPv4']]] as [AddressFamily[]][])(
    'addressFamilies %j are accepted',
    (addressFamilies) => {
      expect(configOf({ addressFamilies }).addressFamilies).toEqual(addressFamilies);
    },
  );

  it('empty addressFamilies are refused', () => {
    expect(problemsOf({ settings: { addressFamilies: [] } })).toEqual([
      'ConfigError: spec.settings.addressFamilies is empty; use [IPv4], [IPv6] or both',
    ]);
  });
});

describe('violaCompatibility legacy', () => {
  const confirmed = { ...environment, LEGACY_VIOLA_PROVIDERS: 'biz-0, biz-1' };
  const legacy = { violaCompatibility: 'legacy' } as const;

  it.each<[what: string, settings: Settings, env: typeof environment, words: string]>([
    [
      'refuses a provider that the configuration does not confirm',
      legacy,
      { ...environment, LEGACY_VIOLA_PROVIDERS: 'biz-0,biz-10' },
      'ConfigError: spec.settings.violaCompatibility is legacy, and provider "biz-1" is not in the operator\'s LEGACY_VIOLA_PROVIDERS',
    ],
    [
      'refuses an endpoint that only the OpenstackConfig names',
      { ...legacy, violaEndpoint: 'https://other.example.org' },
      confirmed,
      'PolicyDenied: spec.settings.violaEndpoint "https://other.example.org" is not in the operator\'s ALLOWED_ENDPOINTS',
    ],
    [
      'refuses mode Observe by both fields',
      { ...legacy, mode: 'Observe' },
      confirmed,
      'ConfigError: spec.settings.mode Observe needs a native Viola: with spec.settings.violaCompatibility legacy',
    ],
    [
      'refuses Adopt, which a legacy Viola drops',
      { ...legacy, existingConfiguration: 'Adopt' },
      confirmed,
      'ConfigError: spec.settings.existingConfiguration Adopt is dropped by a legacy Viola',
    ],
    [
      'refuses a routing that a legacy Viola drops',
      { ...legacy, routing: 'isolated' },
      confirmed,
      'ConfigError: spec.settings.routing "isolated" is dropped by a legacy Viola',
    ],
    [
      'refuses IPv6, which a legacy Viola drops',
      { ...legacy, addressFamilies: ['IPv4', 'IPv6'] },
      confirmed,
      'ConfigError: spec.settings.addressFamilies includes IPv6, which a legacy Viola drops',
    ],
  ])('violaCompatibility legacy %s', (_what, settings, env, words) => {
    const problems = problemsOf({ settings }, env);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(words);
  });

  it('violaCompatibility legacy is accepted for a provider in LEGACY_VIOLA_PROVIDERS', () => {
    expect(problemsOf({ settings: legacy }, confirmed)).toEqual([]);
    expect(problemsOf({ settings: { violaCompatibility: 'native' } })).toEqual([]);
  });
});

describe('ids in an OpenstackConfig', () => {
  it("the business cluster's id defaults to the cloud's id", () => {
    const { k8sProviderID: _gone, ...credentials } = spec.credentials;
    const resolution = resolve({ credentials });
    expect(resolution).toMatchObject({ config: { providerId: 'cloud-1' } });
  });

  it('missing ids are reported by field', () => {
    expect(problemsOf({ credentials: {} })).toEqual([
      'ConfigError: spec.credentials.openstackProviderID is required',
      'ConfigError: spec.credentials.projectID is required',
      'ConfigError: spec.credentials.k8sProviderID is required without openstackProviderID (or set DEFAULT_K8S_PROVIDER_ID)',
    ]);
  });

  it('empty vmNames are refused instead of removing all NICs', () => {
    expect(problemsOf({ vmNames: [] })[0]).toContain(
      'spec.vmNames must name at least one server; to remove all its NICs, delete the OpenstackConfig',
    );
  });
});

describe('an endpoint in the CR', () => {
  const env = { ...environment, ALLOWED_ENDPOINTS: 'https://*.example.com' };

  it("the operator's policy limits an endpoint in the CR", () => {
    expect(problemsOf({ settings: { violaEndpoint: 'https://evil.org' } }, env)).toEqual([
      'PolicyDenied: spec.settings.violaEndpoint "https://evil.org" is not allowed by the operator; it allows https://*.example.com',
    ]);
    const settings = { violaEndpoint: 'https://viola.example.com/' };
    expect(configOf(settings, env).viola).toEqual({
      field: 'spec.settings.violaEndpoint',
      url: 'https://viola.example.com',
      trusted: true,
      isGiven: true,
      compatibility: 'native',
    });
  });

  it('an endpoint in the CR is untrusted without a policy', () => {
    const settings = { openstackNovaEndpoint: 'https://nova.example.org' };
    expect(configOf(settings).credentials).toMatchObject({
      untrustedFields: ['spec.settings.openstackNovaEndpoint'],
    });
  });

  it('the operator’s own endpoint in the CR is trusted', () => {
    const settings = { contrabassEndpoint: 'https://contrabass.test/' };
    expect(configOf(settings).credentials).toMatchObject({ untrustedFields: [] });
  });
});

describe('unverified certificates requested by the CR', () => {
  const direct = { authURL: 'https://k.test', networkEndpoint: 'https://n.test' };
  const given = { ...direct, computeEndpoint: 'https://c.test', username: 'ops', password: 'p' };
  const credentials = { ...given, projectID: 'p', k8sProviderID: 'biz-1' };
  const places = {
    openstackNeutronEndpoint: 'https://n2.test',
    openstackNovaEndpoint: 'https://c2.test',
  };
  const settings = { ...places, openstackInsecureTLS: true };
  const why = "is not in the operator's INSECURE_TLS_ENDPOINTS";
  const problem = (url: string) =>
    `PolicyDenied: spec.settings.openstackInsecureTLS is true, but "${url}" ${why}`;

  it('unverified certificates are refused at every endpoint in the CR, before any call', () => {
    const env = { ...environment, INSECURE_TLS_ENDPOINTS: 'https://c.test' };
    expect(problemsOf({ credentials, settings }, env)).toEqual(
      ['https://k.test', 'https://n.test', 'https://n2.test', 'https://c2.test'].map(problem),
    );
    expect(problemsOf({ credentials, settings })).toContain(problem('https://c.test'));
  });

  it('contrabassInsecureTLS is refused for the Contrabass in use, even the operator’s own', () => {
    const insecure = { contrabassInsecureTLS: true };
    expect(problemsOf({ settings: insecure })).toEqual([
      `PolicyDenied: spec.settings.contrabassInsecureTLS is true, but "https://contrabass.test" ${why}`,
    ]);
    expect(problemsOf({ credentials, settings: insecure })).toEqual([]);
    expect(problemsOf({ settings: { contrabassInsecureTLS: false } })).toEqual([]);
  });
});
