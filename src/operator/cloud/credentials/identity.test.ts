import { afterEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { OpenstackConfigSpec } from '../../../api/openstackconfig.ts';
import { attach, environment, type Scene, setScene } from '../../testing/scene.ts';

const own = { k8sProviderID: 'biz-1' } as const;
const direct = {
  ...own,
  authURL: 'https://keystone.test/v3',
  username: 'ops',
  password: 'secret-word',
  domainName: 'users',
  projectID: 'p1',
} satisfies OpenstackConfigSpec['credentials'];
const inSecret = { ...own, secretRef: { name: 'clouds' } } as const;
const pem = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
const auth = {
  auth_url: 'https://keystone.test',
  application_credential_id: 'c1',
  application_credential_secret: 'secret-word',
};

let scene: Scene;

async function open(env: Readonly<Record<string, string>> = {}): Promise<void> {
  // These tests use no Contrabass.
  const { CONTRABASS_ENDPOINT: _url, CONTRABASS_ENCRYPT_KEY: _key, ...rest } = environment;
  scene = await setScene({ ...rest, ...env });
  attach(scene.cloud, 1, 1);
}

afterEach(async () => scene[Symbol.asyncDispose]());

function keep(values: Readonly<Record<string, string>>): void {
  const data: Record<string, string> = {};
  for (const [key, value] of Object.entries(values))
    data[key] = Buffer.from(value).toString('base64');
  scene.kube.secrets.set('multinic-system/clouds', { metadata: { name: 'clouds' }, data });
}

function yaml(cloud: unknown): string {
  return stringify({ clouds: { mine: cloud } });
}

describe('cloud login with credentials in the CR', () => {
  it("the login has the CR's credentials and settings", async () => {
    await open();
    const settings = { openstackEndpointRegion: 'one', openstackTimeout: '3s' };
    scene.create({ credentials: { ...direct, computeEndpoint: 'https://nova.test' }, settings });
    await scene.look();
    expect(scene.ready()).toBe('True Synced: synced 1 node');
    expect(scene.clouds.requests).toEqual([]);
    expect(scene.clouds.identities[0]).toEqual({
      keystoneUrl: 'https://keystone.test/v3',
      auth: {
        kind: 'password',
        user: { name: 'ops', domain: { name: 'users' } },
        password: 'secret-word',
        project: { id: 'p1' },
      },
      interface: 'public',
      region: 'one',
      novaUrl: 'https://nova.test',
      tls: { insecure: false },
      timeoutMs: 3_000,
    });
  });

  it("service endpoints come from the CR's settings, else from the credentials, else from the operator", async () => {
    await open({ OPENSTACK_NEUTRON_ENDPOINT: 'https://usual.test' });
    const credentials = { ...direct, networkEndpoint: 'https://neutron.test' };
    scene.create({ credentials });
    await scene.look();
    const settings = { openstackNeutronEndpoint: 'https://other.test' };
    scene.edit({ credentials, settings });
    await scene.look();
    scene.edit({ credentials: direct });
    await scene.look();
    expect(scene.clouds.identities.map(({ neutronUrl }) => neutronUrl)).toEqual([
      'https://neutron.test',
      'https://other.test',
      'https://usual.test',
    ]);
  });

  it('the policy limits the endpoints in the catalog', async () => {
    const allowed = 'https://keystone.test,https://viola.test';
    await open({ ALLOWED_ENDPOINTS: allowed });
    scene.create({ credentials: direct });
    await scene.look();
    expect(scene.clouds.identities[0]?.allowedEndpoints).toEqual(allowed.split(','));
  });
});

function secretWarning(field: string): string {
  return `the cloud accepted the credentials; every user who may read this object can read ${field}`;
}

describe('a secret readable in the object', () => {
  it('a password in the CR works, gives one Warning event until moved to a Secret, and is never shown', async () => {
    await open();
    keep({ 'clouds.yaml': yaml({ auth }) });
    scene.create({ credentials: direct });
    await scene.look();
    await scene.look();
    const message = secretWarning('spec.credentials.password (use spec.credentials.secretRef)');
    expect(scene.condition('CredentialsValid')).toMatchObject({
      status: 'True',
      reason: 'SecretInSpec',
      message,
    });
    expect(scene.events.filter(({ reason }) => reason === 'SecretInSpec')).toEqual([
      { type: 'Warning', reason: 'SecretInSpec', message },
    ]);
    expect(JSON.stringify([scene.status(), scene.events])).not.toContain('secret-word');
    scene.edit({ credentials: inSecret });
    await scene.look();
    expect(scene.condition('CredentialsValid')?.reason).toBe('Healthy');
  });

  it('an encrypt key in the CR is reported as SecretInSpec', async () => {
    await open({ CONTRABASS_ENDPOINT: 'https://contrabass.test' });
    scene.create({ settings: { contrabassEncryptKey: 'plain-key-16byte' } });
    await scene.look();
    expect(scene.condition('CredentialsValid')?.message).toBe(
      secretWarning(
        'spec.settings.contrabassEncryptKey (use spec.secrets.contrabassEncryptKeySecretRef)',
      ),
    );
  });
});

describe('cloud login with credentials in a Secret', () => {
  it('the login has the values of the clouds.yaml, including its certificate authority', async () => {
    await open();
    const cloud = { auth, region_name: 'one', interface: 'internal', cacert: 'ca.crt' };
    keep({ 'clouds.yaml': yaml(cloud), 'ca.crt': pem });
    scene.create({ credentials: inSecret });
    await scene.look();
    expect(scene.ready()).toBe('True Synced: synced 1 node');
    expect(scene.clouds.identities[0]).toEqual({
      keystoneUrl: 'https://keystone.test',
      auth: { kind: 'applicationCredential', credential: { id: 'c1' }, secret: 'secret-word' },
      interface: 'internal',
      region: 'one',
      tls: { insecure: false, ca: pem },
      timeoutMs: 30_000,
    });
  });

  it("the CR's settings win over the clouds.yaml, which wins over the operator's settings", async () => {
    const usual = { OPENSTACK_ENDPOINT_REGION: 'three', OPENSTACK_ENDPOINT_INTERFACE: 'admin' };
    await open({ ...usual, INSECURE_TLS_ENDPOINTS: '*' });
    keep({ 'clouds.yaml': yaml({ auth, region_name: 'two', verify: false }) });
    scene.create({ credentials: inSecret });
    await scene.look();
    scene.edit({
      credentials: inSecret,
      settings: { openstackEndpointRegion: 'one', openstackInsecureTLS: false },
    });
    await scene.look();
    keep({ 'clouds.yaml': yaml({ auth }) });
    scene.edit({ credentials: inSecret });
    await scene.look();
    const logins = scene.clouds.identities.map(({ region, interface: kind, tls }) => [
      region,
      kind,
      tls.insecure,
    ]);
    expect(logins).toEqual([
      ['two', 'admin', true],
      ['one', 'admin', false],
      ['three', 'admin', false],
    ]);
  });

  it('a changed Secret gives a new login at the next sync', async () => {
    await open();
    keep({ 'clouds.yaml': yaml({ auth }) });
    scene.create({ credentials: inSecret });
    await scene.look();
    keep({ 'clouds.yaml': yaml({ auth: { ...auth, application_credential_id: 'c2' } }) });
    await scene.look();
    expect(scene.clouds.identities.at(-1)?.auth).toMatchObject({ credential: { id: 'c2' } });
  });

  const where = 'spec.credentials.secretRef: Secret multinic-system/clouds';
  const user = { auth_url: 'https://keystone.test', username: 'ops', password: 'secret-word' };
  it.each([
    [undefined, {}, `ConfigError: ${where} does not exist`],
    [{ 'clouds.yml': 'x' }, {}, `ConfigError: ${where} has no key "clouds.yaml"`],
    [
      { 'clouds.yaml': 'clouds: {}' },
      {},
      `ConfigError: ${where}, clouds.yaml: clouds: has no cloud; add exactly one`,
    ],
    [
      { 'clouds.yaml': yaml({ auth, cacert: '/etc/ca.pem' }) },
      {},
      `ConfigError: ${where}, clouds.yaml: cacert "/etc/ca.pem" is not a key of the Secret`,
    ],
    [
      { 'clouds.yaml': yaml({ auth, cacert: 'constructor' }) },
      {},
      `ConfigError: ${where}, clouds.yaml: cacert "constructor" is not a key of the Secret`,
    ],
    [
      { 'clouds.yaml': yaml({ auth, cacert: 'ca' }), ca: 'nothing' },
      {},
      `ConfigError: ${where}: key "ca" has no PEM certificate`,
    ],
    [
      { 'clouds.yaml': yaml({ auth }) },
      { projectID: 'p1' },
      `ConfigError: ${where}, clouds.yaml: has an application credential, which has a project; remove spec.credentials.projectID "p1"`,
    ],
    [
      { 'clouds.yaml': yaml({ auth: { ...user, project_id: 'p2' } }) },
      { projectID: 'p1' },
      `ConfigError: ${where}, clouds.yaml: sets project "p2" itself; remove spec.credentials.projectID "p1"`,
    ],
    [
      { 'clouds.yaml': yaml({ auth: { ...auth, auth_url: 'http://169.254.169.254' } }) },
      {},
      `PolicyDenied: ${where} has the Keystone URL "http://169.254.169.254", which is a link-local address, and not in the operator's ALLOWED_ENDPOINTS`,
    ],
    [
      { 'clouds.yaml': yaml({ auth, network_endpoint_override: 'http://169.254.169.254' }) },
      {},
      `PolicyDenied: ${where} has the Neutron URL "http://169.254.169.254", which is a link-local address, and not in the operator's ALLOWED_ENDPOINTS`,
    ],
    [
      { 'clouds.yaml': yaml({ auth, compute_endpoint_override: 'http://169.254.169.254' }) },
      {},
      `PolicyDenied: ${where} has the Nova URL "http://169.254.169.254", which is a link-local address, and not in the operator's ALLOWED_ENDPOINTS`,
    ],
  ])('no login is made with %j', async (values, more, message) => {
    await open();
    if (values) keep(values);
    scene.create({ credentials: { ...inSecret, ...more } });
    await scene.look();
    expect(scene.ready()).toBe(`False ${message}`);
    expect(scene.clouds.identities).toEqual([]);
    expect(JSON.stringify(scene.status())).not.toContain('secret-word');
  });

  it('a clouds.yaml that is not UTF-8 is refused', async () => {
    await open();
    const latin1 = Buffer.from(yaml({ auth: { ...user, password: 'pässword' } }), 'latin1');
    const data = { 'clouds.yaml': latin1.toString('base64') };
    scene.kube.secrets.set('multinic-system/clouds', { metadata: { name: 'clouds' }, data });
    scene.create({ credentials: inSecret });
    await scene.look();
    expect(scene.ready()).toBe(
      'False ConfigError: Secret multinic-system/clouds: key "clouds.yaml" is not UTF-8 text',
    );
    expect(scene.clouds.identities).toEqual([]);
  });

  it('the same project in CR and clouds.yaml is accepted', async () => {
    await open();
    keep({ 'clouds.yaml': yaml({ auth: { ...user, project_id: 'P1' } }) });
    scene.create({ credentials: { ...inSecret, projectID: 'p1' } });
    await scene.look();
    expect(scene.ready()).toBe('True Synced: synced 1 node');
  });
});
