import { describe, expect, it } from 'vitest';
import type { OpenstackConfigSpec } from '../../../api/openstackconfig.ts';
import { readSettings } from '../../../process/settings.ts';
import { environment, spec } from '../../testing/scene.ts';
import { operatorSettings } from '../settings/operator.ts';
import { type Resolution, resolveConfig } from './resolve.ts';

type Credentials = OpenstackConfigSpec['credentials'];

function resolve(
  credentials: Credentials,
  change: { readonly settings?: OpenstackConfigSpec['settings'] } = {},
  env: Readonly<Record<string, string>> = {},
): Resolution {
  const all = { ...environment, DEFAULT_K8S_PROVIDER_ID: 'biz-default', ...env };
  const settings = readSettings(operatorSettings, { env: all, flags: {} });
  return resolveConfig(
    {
      metadata: { namespace: 'multinic-system', name: 'osc' },
      spec: { ...spec, credentials, ...change },
    },
    settings,
  );
}

function problemsOf(...given: Parameters<typeof resolve>): string[] {
  const resolution = resolve(...given);
  return resolution.kind === 'refused'
    ? resolution.problems.map(({ reason, message }) => `${reason}: ${message}`)
    : [];
}

/** As in the first generation's document. */
const direct = {
  authURL: 'http://10.0.0.1:5000/v3',
  username: 'admin',
  password: ' secret-word ',
  projectID: 'abcdef',
  domainName: 'default',
} satisfies Credentials;

describe('credentials in the CR', () => {
  it('direct credentials are taken unchanged, including blanks in the password', () => {
    expect(resolve(direct)).toMatchObject({
      config: {
        providerId: 'biz-default',
        credentials: {
          kind: 'direct',
          keystoneUrl: 'http://10.0.0.1:5000/v3',
          username: 'admin',
          password: ' secret-word ',
          domainName: 'default',
          projectId: 'abcdef',
          neutronUrl: undefined,
          novaUrl: undefined,
        },
      },
    });
  });

  it('direct credentials may name services and business cluster, and need no Contrabass', () => {
    const credentials = {
      ...direct,
      domainName: ' ',
      k8sProviderID: 'biz-2',
      networkEndpoint: ' http://10.0.0.1:9696 ',
      computeEndpoint: 'http://10.0.0.1:8774/v2.1',
    };
    expect(resolve(credentials, {}, { CONTRABASS_ENDPOINT: '' })).toMatchObject({
      config: {
        providerId: 'biz-2',
        credentials: {
          domainName: 'Default',
          neutronUrl: 'http://10.0.0.1:9696',
          novaUrl: 'http://10.0.0.1:8774/v2.1',
        },
      },
    });
  });

  it.each(['authURL', 'username', 'password', 'projectID'] as const)(
    'direct credentials need %s',
    (key) => {
      expect(problemsOf({ ...direct, [key]: '' })).toEqual([
        `ConfigError: spec.credentials.${key} is required`,
      ]);
    },
  );

  it.each(['authURL', 'networkEndpoint', 'computeEndpoint'] as const)(
    "the operator's policy is checked for direct credentials: %s",
    (key) => {
      const allowed = { ALLOWED_ENDPOINTS: 'https://*.example.com' };
      const credentials = { ...direct, authURL: 'https://keystone.example.com' };
      expect(problemsOf(credentials, {}, allowed)).toEqual([]);
      expect(problemsOf({ ...credentials, [key]: 'https://evil.org' }, {}, allowed)).toEqual([
        `PolicyDenied: spec.credentials.${key} "https://evil.org" is not allowed by the operator; it allows https://*.example.com`,
      ]);
    },
  );

  const defaults = {
    OPENSTACK_DEFAULT_AUTH_URL: 'http://keystone.default:5000/v3/',
    OPENSTACK_DEFAULT_NEUTRON_ENDPOINT: 'http://neutron.default:9696',
    OPENSTACK_DEFAULT_NOVA_ENDPOINT: 'http://nova.default:8774/v2.1',
  };
  const [keystone, neutron, nova] = [
    'http://keystone.default:5000/v3',
    'http://neutron.default:9696',
    'http://nova.default:8774/v2.1',
  ];

  it.each<[string, Partial<Credentials>, Partial<typeof defaults>, (string | undefined)[]]>([
    ['all defaults', { authURL: '' }, defaults, [keystone, neutron, nova]],
    [
      'its own endpoints before the defaults',
      { authURL: keystone, networkEndpoint: 'http://own:9696', computeEndpoint: 'http://own:8774' },
      defaults,
      [keystone, 'http://own:9696', 'http://own:8774'],
    ],
    [
      'the defaults of its own Keystone',
      { authURL: keystone },
      defaults,
      [keystone, neutron, nova],
    ],
    [
      'no Neutron and Nova of another Keystone',
      {},
      defaults,
      [direct.authURL, undefined, undefined],
    ],
    [
      'the default Neutron where no default Keystone is set',
      {},
      { OPENSTACK_DEFAULT_NEUTRON_ENDPOINT: neutron },
      [direct.authURL, neutron, undefined],
    ],
  ])('direct credentials take %s', (_, own, env, [keystoneUrl, neutronUrl, novaUrl]) => {
    expect(resolve({ ...direct, ...own }, {}, env)).toMatchObject({
      config: { credentials: { kind: 'direct', keystoneUrl, neutronUrl, novaUrl } },
    });
  });

  it.each<[string, Credentials]>([
    ['Contrabass', { openstackProviderID: 'p1', projectID: 'abc' }],
    ['clouds.yaml', { secretRef: { name: 'clouds' } }],
  ])('credentials of form %s ignore default endpoints', (_, credentials) => {
    expect(resolve(credentials, {}, defaults)).toEqual(resolve(credentials));
  });

  it('error messages contain no password', () => {
    const all = problemsOf({ ...direct, authURL: 'nowhere', username: '', projectID: '' });
    expect(all).toHaveLength(3);
    expect(all.join()).not.toContain('secret-word');
  });
});

describe('credentials in a Secret', () => {
  const secretRef = { name: 'clouds' };

  it('credentials.secretRef selects the Secret and an optional project', () => {
    expect(resolve({ secretRef })).toMatchObject({
      config: {
        providerId: 'biz-default',
        credentials: { kind: 'secret', name: 'clouds', projectId: undefined },
      },
    });
    expect(resolve({ secretRef, projectID: ' p1 ' })).toMatchObject({
      config: { credentials: { projectId: 'p1' } },
    });
    expect(problemsOf({ secretRef: { name: ' ' } })).toEqual([
      'ConfigError: spec.credentials.secretRef.name is required',
    ]);
  });

  it("a Secret's token is sent to no endpoint outside ALLOWED_ENDPOINTS", () => {
    const settings = { openstackNovaEndpoint: 'https://nova.example.com' };
    expect(problemsOf({ secretRef }, { settings })).toEqual([
      'PolicyDenied: spec.settings.openstackNovaEndpoint is not in the operator\'s ALLOWED_ENDPOINTS, so no token of Secret "clouds" is sent there; add it to ALLOWED_ENDPOINTS, or set it in the clouds.yaml',
    ]);
    const allowed = { ALLOWED_ENDPOINTS: 'https://*.example.com,https://viola.test' };
    expect(problemsOf({ secretRef }, { settings }, allowed)).toEqual([]);
  });
});

describe('credentials of several forms', () => {
  it.each([
    [{ ...spec.credentials, authURL: 'http://k' }, 'authURL', 'openstackProviderID'],
    [{ ...spec.credentials, secretRef: { name: 's' } }, 'secretRef', 'openstackProviderID'],
    [{ ...direct, secretRef: { name: 's' } }, 'secretRef', 'authURL'],
    [{ ...spec.credentials, password: 'x' }, 'password', 'openstackProviderID'],
  ])('credentials with fields of two forms are refused', (credentials, field, other) => {
    expect(problemsOf(credentials)).toEqual([
      `ConfigError: spec.credentials.${field} cannot be combined with spec.credentials.${other}; remove one of them`,
    ]);
  });

  it('blank fields of a second form are ignored', () => {
    const credentials = { ...spec.credentials, authURL: ' ', password: '' };
    expect(resolve(credentials)).toMatchObject({ config: { credentials: { kind: 'provider' } } });
  });
});
