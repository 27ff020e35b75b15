import { describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { CloudsYamlError, readCloudsYaml } from './clouds-yaml.ts';

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

describe('a clouds.yaml', () => {
  it('holds the account of a user', () => {
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

  it('holds an application credential, with and without its type', () => {
    const wanted = {
      kind: 'applicationCredential',
      credential: { id: 'c1' },
      secret: 'secret-word',
    };
    for (const type of [{}, { auth_type: 'v3applicationcredential' }]) {
      expect(readCloudsYaml(yaml({ auth: credential, ...type })).auth).toEqual(wanted);
    }
  });

  it('may name an application credential, with its user', () => {
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
  ])('names domains: %j', (domains, user, project = { id: 'default' }) => {
    const { project_id: _id, ...rest } = auth;
    const cloud = { auth: { ...rest, project_name: 'team', ...domains } };
    expect(readCloudsYaml(yaml(cloud)).auth).toMatchObject({
      user: { name: 'ops', domain: user },
      project: { name: 'team', domain: project },
    });
  });

  it('says how the cloud is reached', () => {
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

  it('is text: an id of digits is no number, a password keeps its blanks', () => {
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

  it('may leave the project to the CR, and names its own before that', () => {
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
    ['mine: {}', 'clouds: is missing; write one cloud below it'],
    ['clouds: {}', 'clouds: names no cloud; write exactly one'],
    ['clouds: {a: {}, b: {}}', 'clouds: names several (a, b); keep exactly one'],
    ['clouds: {mine: {}}', 'clouds.mine.auth: Invalid input'],
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
    [yaml({ auth: { ...auth, trust_id: 't' } }), 'clouds.mine.auth: Unrecognized key: "trust_id"'],
    [yaml({ auth: { ...auth, password: ['secret-word'] } }), 'clouds.mine.auth.password: must be'],
    [yaml({ auth, auth_type: 'v3token' }), 'clouds.mine.auth_type: Invalid option'],
    [yaml({ auth, interface: 'private' }), 'clouds.mine.interface: Invalid option'],
    [yaml({ auth, verify: 'maybe' }), 'clouds.mine.verify: Invalid option'],
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
  ])('that cannot be used is told by its field: %j', (text, message) => {
    const said = refusal(text);
    expect(said).toContain(message);
    expect(said).not.toContain('secret-word');
  });

  it('may have been written on Windows, and say nothing in many ways', () => {
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

  it('has a password with all its characters, of whichever script', () => {
    for (const password of ['pä ß', '비밀번호\n', '\t"\\', '🔑', 'null', '~', 'x'.repeat(10_000)]) {
      expect(readCloudsYaml(yaml({ auth: { ...auth, password } })).auth).toMatchObject({
        password,
      });
    }
  });

  it('says with merge keys what it says without', () => {
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
    [`${yaml({ auth })}${yaml({ auth })}`, 'is not YAML'],
    [`${yaml({ auth })}---\n${yaml({ auth })}`, 'is not YAML'],
    [yaml({ auth, region_name: ['one', 'two'] }), 'clouds.mine.region_name: must be a text'],
    [yaml({ auth: { ...auth, password: { a: 'secret-word' } } }), 'auth.password: must be a text'],
    [yaml({ auth: null }), 'clouds.mine.auth: '],
    ['clouds: {mine: ~}', 'clouds: names no cloud; write exactly one'],
    ['clouds: ~', 'clouds: is missing'],
    ['clouds: {__proto__: {auth: {}}}', 'clouds: names no cloud'],
    ['clouds: &all {mine: *all}', 'is not YAML'],
    ['? [secret-word]\n: x\nclouds: {}', 'names no cloud'],
  ])('of a hostile shape is told as any other: %j', (text, message) => {
    const warned = vi.spyOn(process, 'emitWarning');
    const said = refusal(text);
    expect(said).toContain(message);
    expect(said).not.toContain('secret-word');
    expect(warned).not.toHaveBeenCalled();
  });

  it('of aliases without end is refused like any other', () => {
    const lines = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (let n = 0; n < 8; n++) {
      const [here, before] = ['bcdefghi'[n] ?? '', 'abcdefgh'[n] ?? ''];
      lines.push(`${here}: &${here} [${Array(9).fill(`*${before}`).join(', ')}]`);
    }
    expect(refusal(lines.join('\n'))).toBe('is not YAML');
  });

  it('longer than any one cloud is not even read: every key of a map is compared with all others', () => {
    const fits = `${yaml({ auth })}#`.padEnd(16_384, '#');
    expect(refusal(fits)).toBe('accepted');
    const message = 'has 16385 characters; keep exactly one cloud, in 16384 at most';
    expect(refusal(`${fits}#`)).toBe(message);
  });
});
