import { describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { readCloudsYaml } from './clouds-yaml.ts';
import { CloudsYamlError } from './clouds-yaml-error.ts';

const auth = {
  auth_url: 'https://keystone.test/v3',
  username: 'ops',
  password: 'secret-word',
  project_id: 'p1',
};
const credential = {
  auth_url: 'https://keystone.test/v3',
  application_credential_id: 'c1',
  application_credential_secret: 'secret-word',
};

function yaml(cloud: unknown): string {
  return stringify({ clouds: { mine: cloud } });
}

function refusal(text: string, projectId?: string): string {
  try {
    readCloudsYaml(text, projectId);
  } catch (error) {
    if (error instanceof CloudsYamlError) return error.message;
    throw error;
  }
  return 'accepted';
}

describe('readCloudsYaml', () => {
  it("clouds.yaml with a user's account is read", () => {
    expect(readCloudsYaml(yaml({ auth }))).toEqual({
      keystoneUrl: 'https://keystone.test/v3',
      auth: {
        kind: 'password',
        user: { name: 'ops', domain: { id: 'default' } },
        password: 'secret-word',
        project: { id: 'p1' },
      },
      region: undefined,
      interface: undefined,
      neutronUrl: undefined,
      novaUrl: undefined,
      verify: undefined,
      cacert: undefined,
    });
  });

  it('clouds.yaml with an application credential is read, with and without auth_type', () => {
    const wanted = {
      kind: 'applicationCredential',
      credential: { id: 'c1' },
      secret: 'secret-word',
    };
    for (const type of [{}, { auth_type: 'v3applicationcredential' }]) {
      expect(readCloudsYaml(yaml({ auth: credential, ...type })).auth).toEqual(wanted);
    }
  });

  it('clouds.yaml may name an application credential together with its user', () => {
    const { application_credential_id: _id, ...rest } = credential;
    const named = { ...rest, application_credential_name: 'robot', user_id: 'u1' };
    expect(readCloudsYaml(yaml({ auth: named })).auth).toMatchObject({
      credential: { name: 'robot', user: { id: 'u1' } },
    });
    expect(refusal(yaml({ auth: { ...named, user_id: '' } }))).toBe(
      'clouds.mine.auth.username: is required',
    );
  });

  it.each([
    [{ user_domain_name: 'Users' }, { name: 'Users' }, undefined],
    [{ user_domain_id: 'd1', user_domain_name: 'Users' }, { id: 'd1' }, undefined],
    [{ project_domain_name: 'Projects' }, { id: 'default' }, { name: 'Projects' }],
    [{ domain_name: 'Both' }, { name: 'Both' }, { name: 'Both' }],
    [{ domain_id: 'd2', project_domain_id: 'd3' }, { id: 'd2' }, { id: 'd3' }],
    [{ default_domain: 'd4' }, { id: 'd4' }, { id: 'd4' }],
  ])('clouds.yaml domains %j are resolved', (domains, user, project = { id: 'default' }) => {
    const { project_id: _id, ...rest } = auth;
    const cloud = { auth: { ...rest, project_name: 'team', ...domains } };
    expect(readCloudsYaml(yaml(cloud)).auth).toMatchObject({
      user: { name: 'ops', domain: user },
      project: { name: 'team', domain: project },
    });
  });

  it('clouds.yaml sets region, interface, endpoints and verification', () => {
    const cloud = {
      auth,
      region_name: 'one',
      interface: 'internalURL',
      verify: 'No',
      cacert: 'ca.crt',
      identity_api_version: '3',
      network_endpoint_override: 'https://neutron.test',
      compute_endpoint_override: 'https://nova.test/v2.1',
      volume_api_version: '3',
    };
    expect(readCloudsYaml(yaml(cloud))).toMatchObject({
      region: 'one',
      interface: 'internal',
      verify: false,
      cacert: 'ca.crt',
      neutronUrl: 'https://neutron.test',
      novaUrl: 'https://nova.test/v2.1',
    });
  });

  it('clouds.yaml scalars are text: an id of digits is unchanged, a password keeps its blanks', () => {
    const text = `clouds:
  mine:
    verify: true
    auth:
      auth_url: https://keystone.test
      user_id: 00012345678901234567890123456789
      password: ' 1e3 '
      tenant_id: 98765432109876543210987654321098
`;
    expect(readCloudsYaml(text)).toMatchObject({
      verify: true,
      auth: {
        user: { id: '00012345678901234567890123456789' },
        password: ' 1e3 ',
        project: { id: '98765432109876543210987654321098' },
      },
    });
  });

  it("the CR's project is used only when clouds.yaml names no project", () => {
    const { project_id: _id, ...rest } = auth;
    expect(readCloudsYaml(yaml({ auth: rest }), 'p9').auth).toMatchObject({
      project: { id: 'p9' },
    });
    expect(readCloudsYaml(yaml({ auth }), 'p9').auth).toMatchObject({ project: { id: 'p1' } });
    expect(refusal(yaml({ auth: rest }))).toBe('clouds.mine.auth.project_id: is required');
  });

  it.each([
    ['clouds: [', 'is not YAML'],
    ['', 'must begin with "clouds:" and one cloud below it'],
    ['mine: {}', 'clouds: is missing; add one cloud below it'],
    ['clouds: {}', 'clouds: has no cloud; add exactly one'],
    ['clouds: {a: {}, b: {}}', 'clouds: has several clouds (a, b); keep exactly one'],
    ['clouds: {mine: {}}', 'clouds.mine.auth.auth_url: is required'],
    ['clouds: {mine: secret-word}', 'clouds.mine: must be fields such as auth and region_name'],
    [yaml({ auth: { ...auth, auth_url: '' } }), 'clouds.mine.auth.auth_url: is required'],
    [yaml({ auth: { ...auth, auth_url: 'secret-word' } }), 'clouds.mine.auth.auth_url: must be a'],
    [yaml({ auth: { ...auth, auth_url: 'file:///secret-word' } }), 'auth.auth_url: must be a URL'],
    [
      yaml({ auth, network_endpoint_override: 'secret-word' }),
      'network_endpoint_override: must be',
    ],
    [
      yaml({ auth, compute_endpoint_override: 'secret-word' }),
      'compute_endpoint_override: must be',
    ],
    [yaml({ auth: { ...auth, password: '' } }), 'clouds.mine.auth.password: is required'],
    [yaml({ auth: { ...auth, username: '' } }), 'clouds.mine.auth.username: is required'],
    [
      yaml({ auth: { ...auth, trust_id: 't' } }),
      'clouds.mine.auth.trust_id: is not supported; use',
    ],
    [yaml({ auth: { ...auth, password: ['secret-word'] } }), 'clouds.mine.auth.password: must be'],
    [yaml({ auth, auth_type: 'v3token' }), 'clouds.mine.auth_type: Invalid option'],
    [yaml({ auth, interface: 'private' }), 'clouds.mine.interface: Invalid option'],
    [yaml({ auth, verify: 'maybe' }), 'clouds.mine.verify: must be true or false'],
    [yaml({ auth, insecure: 'secret-word' }), 'clouds.mine.insecure: must be true or false'],
    [yaml({ auth, network_api_version: '3' }), 'clouds.mine.network_api_version: must be 2'],
    [yaml({ auth, identity_api_version: '2' }), 'clouds.mine.identity_api_version: must be 3'],
    [yaml({ auth, profile: 'vexxhost' }), 'clouds.mine.profile: is not supported'],
    [
      yaml({ auth: { ...credential, application_credential_id: '' } }),
      'clouds.mine.auth.application_credential_id: is required',
    ],
    [yaml({ auth: credential, auth_type: 'password' }), 'clouds.mine.auth.password: is required'],
    [
      yaml({ auth, auth_type: 'v3applicationcredential' }),
      'clouds.mine.auth.application_credential_secret: is required',
    ],
  ])('an unusable clouds.yaml is reported by field, without values: %j', (text, message) => {
    const refused = refusal(text);
    expect(refused).toContain(message);
    expect(refused).not.toContain('secret-word');
  });

  it.each([
    [{ regions: ['one'] }, 'regions: is not supported; set one region in region_name'],
    [{ network_region_name: 'one' }, 'network_region_name: is not supported; set one region'],
    [{ network_interface: 'internal' }, 'network_interface: is not supported; set interface'],
    [{ compute_interface: 'internal' }, 'compute_interface: is not supported; set interface'],
    [
      { network_endpoint_type: 'internal' },
      'network_endpoint_type: is not supported; set interface',
    ],
    [
      { cert: 'secret-word' },
      'cert: is not supported; use a password or an application credential',
    ],
    [{ key: 'secret-word' }, 'key: is not supported; use a password or an application credential'],
    [{ identity_endpoint_override: 'https://k' }, 'is not supported; set the Keystone URL'],
    [{ api_timeout: '30' }, 'api_timeout: is not supported; set spec.settings.openstackTimeout'],
    [{ compute_default_microversion: '2.90' }, 'compute_default_microversion: is not supported'],
    [{ intreface: 'internal' }, 'clouds.mine.intreface: is not supported; remove it'],
    [{ 'secret-word of a user': '' }, 'clouds.mine.<key>: is not supported; remove it'],
    [
      { interface: 'public', endpoint_type: 'internal' },
      'clouds.mine.interface: and endpoint_type are the same field, with different values',
    ],
    [{ region_name: 'a', 'region-name': 'b' }, 'region_name: and region-name are the same field'],
    [{ project_id: 'secret-word' }, 'clouds.mine.auth.project_id: is set twice, with different'],
  ])('a key without effect is refused by name: %j', (cloud, message) => {
    const refused = refusal(yaml({ auth, ...cloud }));
    expect(refused).toContain(message);
    expect(refused).not.toContain('secret-word');
  });

  it.each([
    [{ endpoint_type: 'internalURL' }, { interface: 'internal' }],
    [{ verify: 'off' }, { verify: false }],
    [{ verify: 'On' }, { verify: true }],
    [{ insecure: 'true', verify: 'true' }, { verify: false }],
    [{ insecure: 'no' }, { verify: undefined }],
    [{ network_endpoint: 'https://n' }, { neutronUrl: 'https://n' }],
    [{ compute_endpoint: 'https://c/v2.1' }, { novaUrl: 'https://c/v2.1' }],
    [{ 'region-name': 'one' }, { region: 'one' }],
    [{ auth_plugin: 'password', compute_api_version: '2.1' }, { region: undefined }],
    [{ image_api_version: '2', networks: [{ name: 'x' }], object_store_interface: 'x' }, {}],
    [{ auth_url: auth.auth_url, project_id: 'p1' }, { keystoneUrl: auth.auth_url }],
  ])('a key has the same effect as in openstacksdk: %j', (cloud, wanted) => {
    expect(readCloudsYaml(yaml({ auth, ...cloud }))).toMatchObject(wanted);
  });

  it('login fields may stand beside auth, or without auth', () => {
    const { auth_url, project_id: _id, ...rest } = auth;
    const domain = { project_domain_name: 'Projects' };
    const split = yaml({ auth: rest, auth_url, project_name: 'team', ...domain });
    const flat = yaml({ ...rest, auth_url, 'project-name': 'team', ...domain });
    for (const text of [split, flat]) {
      expect(readCloudsYaml(text)).toMatchObject({
        keystoneUrl: auth_url,
        auth: { project: { name: 'team', domain: { name: 'Projects' } } },
      });
    }
  });

  it.each([
    ['clouds:\n  mine:\n    verify: a\n    verify: secret-word\n', 'line 4: verify is set twice'],
    ['clouds: {mine: {"auth": {}, "auth": 1}}', 'line 1: auth is set twice; remove one'],
    ['clouds: {}\nclouds: {}', 'line 2: clouds is set twice; remove one'],
    ['a:\n  "secret-word !": 1\n  "secret-word !": 2\n', 'line 3: <key> is set twice'],
  ])('a key given twice is reported with its line: %j', (text, message) => {
    expect(refusal(text)).toContain(message);
    expect(refusal(text)).not.toContain('secret-word');
  });

  it('clouds.yaml may have a BOM, Windows line ends and null values', () => {
    const nothing = [
      'region_name: ~',
      'cacert: null',
      'verify:',
      "interface: ''".replace("''", '~'),
    ];
    const text = yaml({ auth: { ...auth, domain_id: null } }).replace(
      'mine:',
      `mine:\n    ${nothing.join('\n    ')}`,
    );
    const read = readCloudsYaml(`\ufeff${text.replaceAll('\n', '\r\n')}`);
    expect(read).toEqual(readCloudsYaml(yaml({ auth })));
  });

  it('a password may have any characters of any script', () => {
    for (const password of ['pä ß', '비밀번호\n', '\t"\\', '🔑', 'null', '~', 'x'.repeat(10_000)]) {
      expect(readCloudsYaml(yaml({ auth: { ...auth, password } })).auth).toMatchObject({
        password,
      });
    }
  });

  it('merge keys have their YAML meaning', () => {
    const text = `usual: &usual {verify: 'no', region_name: two}
clouds:
  mine:
    <<: *usual
    region_name: one
    auth: ${JSON.stringify(auth)}
`;
    expect(readCloudsYaml(text)).toMatchObject({ verify: false, region: 'one' });
  });

  it.each([
    [`${yaml({ auth })}${yaml({ auth })}`, 'line 8: clouds is set twice'],
    [`${yaml({ auth })}---\n${yaml({ auth })}`, 'is not YAML'],
    [yaml({ auth, region_name: ['one', 'two'] }), 'clouds.mine.region_name: must be a string'],
    [
      yaml({ auth: { ...auth, password: { a: 'secret-word' } } }),
      'auth.password: must be a string',
    ],
    [yaml({ auth: null }), 'clouds.mine.auth.auth_url: is required'],
    [yaml({ auth: ['secret-word'] }), 'clouds.mine.auth: '],
    ['clouds: {mine: ~}', 'clouds: has no cloud; add exactly one'],
    ['clouds: ~', 'clouds: is missing'],
    ['clouds: {__proto__: {auth: {}}}', 'clouds: has no cloud'],
    ['clouds: &all {mine: *all}', 'is not YAML'],
    ['? [secret-word]\n: x\nclouds: {}', 'has no cloud'],
  ])('a malformed clouds.yaml gives an error without secrets or warnings: %j', (text, message) => {
    const warned = vi.spyOn(process, 'emitWarning');
    const refused = refusal(text);
    expect(refused).toContain(message);
    expect(refused).not.toContain('secret-word');
    expect(warned).not.toHaveBeenCalled();
  });

  it('exponentially nested aliases are refused as invalid YAML', () => {
    const lines = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (let n = 0; n < 8; n++) {
      const [here, before] = ['bcdefghi'[n] ?? '', 'abcdefgh'[n] ?? ''];
      lines.push(`${here}: &${here} [${Array(9).fill(`*${before}`).join(', ')}]`);
    }
    expect(refusal(lines.join('\n'))).toBe('is not YAML');
  });

  it('a text above 16,384 characters is refused before parsing, because key comparison is quadratic', () => {
    const fits = `${yaml({ auth })}#`.padEnd(16_384, '#');
    expect(refusal(fits)).toBe('accepted');
    const message = 'has 16385 characters, at most 16384 are allowed; keep exactly one cloud';
    expect(refusal(`${fits}#`)).toBe(message);
  });
});
