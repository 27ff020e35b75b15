import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import * as z from 'zod';
import { encryptPassword } from '../../rig/cloud/encrypt-password.ts';
import { type OpenstackConfigSpec, openstackConfigSpec } from '../api/openstackconfig.ts';
import { createClouds } from '../openstack/clouds.ts';
import { createLogger } from '../process/log.ts';
import { systemAuthorities } from '../requests/ca-bundle.ts';
import { systemClock } from '../time/clock.ts';
import { createViolas } from './clusters/deliver/violas.ts';
import { rulesOf } from './model/resolve/policy.ts';
import { type Listener, listen } from './testing/listener.ts';
import { noRecords } from './testing/no-records.ts';
import { environment, type Outside, type Scene, setScene } from './testing/scene.ts';

/** Endpoints and credentials given by a policy test; absent fields use allowed endpoints. */
interface Given {
  readonly settings?: OpenstackConfigSpec['settings'];
  readonly direct?: Partial<OpenstackConfigSpec['credentials']>;
  readonly yaml?: Readonly<Record<string, unknown>> & { readonly auth?: object };
  readonly contrabass?: Readonly<Record<string, string>>;
  readonly catalog?: Readonly<Record<string, string>>;
}

const key = '0123456789abcdef';
const account = { username: 'ops', password: 'secret-word', domainName: 'Default' };

/** All fields and answers with an endpoint, and how each names the endpoint. */
const endpointSources: Readonly<Record<string, (url: string) => Given>> = {
  'spec.settings.contrabassEndpoint': (url) => ({ settings: { contrabassEndpoint: url } }),
  'spec.settings.violaEndpoint': (url) => ({ settings: { violaEndpoint: url } }),
  'spec.settings.openstackNeutronEndpoint': (url) => ({
    settings: { openstackNeutronEndpoint: url },
  }),
  'spec.settings.openstackNovaEndpoint': (url) => ({ settings: { openstackNovaEndpoint: url } }),
  'spec.credentials.authURL': (authURL) => ({ direct: { authURL } }),
  'spec.credentials.networkEndpoint': (networkEndpoint) => ({ direct: { networkEndpoint } }),
  'spec.credentials.computeEndpoint': (computeEndpoint) => ({ direct: { computeEndpoint } }),
  'clouds.yaml auth_url': (url) => ({ yaml: { auth: { auth_url: url } } }),
  'clouds.yaml network': (url) => ({ yaml: { network_endpoint_override: url } }),
  'clouds.yaml compute': (url) => ({ yaml: { compute_endpoint_override: url } }),
  'Contrabass returns the Keystone URL': (url) => ({ contrabass: { url } }),
  'Contrabass returns the Neutron URL': (neutronUrl) => ({ contrabass: { neutronUrl } }),
  'Contrabass returns the Nova URL': (novaUrl) => ({ contrabass: { novaUrl } }),
  'catalog network': (network) => ({ catalog: { network } }),
  'catalog compute': (compute) => ({ catalog: { compute } }),
};

const providers = ['spec.credentials.openstackProviderID', 'spec.credentials.k8sProviderID'];
/** Text fields without an endpoint or provider. */
const otherFields = `subnetIDs subnetID subnetName vmNames vmSelector.metadata vmSelector.tags
  credentials.projectID credentials.username credentials.password credentials.domainName
  credentials.secretRef.name settings.contrabassEncryptKey settings.contrabassTimeout
  settings.openstackTimeout settings.openstackEndpointInterface settings.openstackEndpointRegion
  settings.openstackNodeNameMetadataKey settings.openstackPortAllowedStatuses
  settings.pollFastInterval settings.pollSlowInterval settings.pollErrorInterval
  settings.pollFastWindow settings.portBaseline settings.deletionPolicy settings.routing
  settings.addressFamilies settings.mode settings.existingConfiguration settings.violaCompatibility
  secrets.contrabassEncryptKeySecretRef.name secrets.contrabassEncryptKeySecretRef.key`
  .split(/\s+/)
  .map((field) => `spec.${field}`);

let good: Listener;
let bad: Listener;
let badTls: Listener;
let given: Given;
let calls: string[];
/** Requests received over TLS: an unknown certificate ends the connection before any request. */
let tlsRequests: string[];
const open: AsyncDisposable[] = [];

beforeEach(async () => {
  calls = [];
  tlsRequests = [];
  given = {};
  // Answers every request, to keep callers from waiting.
  good = await listen('http', (request, response) => {
    const { url = '' } = request;
    calls.push(url);
    void text(request).then(() => {
      const { status, body } = replyOf(url);
      response.writeHead(status, { 'x-subject-token': 't' }).end(JSON.stringify(body));
    });
  });
  bad = await listen('http', (_, response) => response.writeHead(403).end('{}'));
  badTls = await listen('https', ({ url = '' }, response) => {
    tlsRequests.push(url);
    response.writeHead(403).end('{}');
  });
  open.push(good, bad, badTls);
});

afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each[Symbol.asyncDispose]();
});

/**
 * Replies from a minimal Contrabass, Keystone, Neutron, Nova and Viola: each knows only the remaining
 * endpoints.
 */
function replyOf(url: string): { readonly status: number; readonly body: unknown } {
  if (url.includes('/contrabass/')) {
    const { url: keystone = good.url, ...named } = given.contrabass ?? {};
    const adminPw = encryptPassword('secret-word', key);
    const attributes = { adminId: 'ops', adminPw, domain: 'Default', ...named };
    return { status: 200, body: { data: { url: keystone, attributes } } };
  }
  // Without ports the sync reads the servers from Nova.
  if (url.includes('/v2.0/ports')) return { status: 200, body: { ports: [] } };
  if (url.includes('/v2.0/subnets/')) {
    const cidr = { cidr: '10.0.10.0/24', ip_version: 4, gateway_ip: null, host_routes: [] };
    const ids = { id: 'sub-a', network_id: 'net-a', project_id: 'project-1' };
    return { status: 200, body: { subnet: { ...ids, name: '', ...cidr } } };
  }
  if (url.includes('/node-configs')) {
    return { status: 200, body: { items: [], observedAt: '2026-01-01T00:00:00Z' } };
  }
  if (!url.endsWith('/auth/tokens')) return { status: 404, body: {} };
  const catalog = ['network', 'compute'].map((type) => {
    const endpoint = { interface: 'public', region: 'one', url: given.catalog?.[type] ?? good.url };
    return { type, endpoints: [endpoint] };
  });
  const [issued_at, expires_at] = ['2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z'];
  const token = { project: { id: 'project-1' }, issued_at, expires_at, catalog };
  return { status: 201, body: { token } };
}

const log = createLogger({ part: 'test', level: 'silent' });
const deps = { clock: systemClock, random: () => 0, log, records: noRecords };
const services: Outside = {
  clouds: (settings) => {
    const clouds = createClouds({ ...deps, ...rulesOf(settings) });
    open.push(clouds);
    return clouds;
  },
  violas: (settings) => {
    const tls = { token: undefined, authorities: systemAuthorities };
    const { isTrusted } = rulesOf(settings);
    const violas = createViolas({ ...settings, ...tls }, { ...deps, isTrusted });
    open.push(violas);
    return violas;
  },
};

async function sceneWith(env: Readonly<Record<string, string>>): Promise<Scene> {
  const own = { CONTRABASS_ENDPOINT: good.url, VIOLA_ENDPOINT: good.url };
  const scene = await setScene({ ...environment, ...own, ...env }, services);
  open.push(scene);
  const data = { CONTRABASS_ENCRYPT_KEY: Buffer.from(key).toString('base64') };
  scene.kube.secrets.set('multinic-system/contrabass-encrypt-key', {
    metadata: { name: 'contrabass-encrypt-key' },
    data,
  });
  return scene;
}

/** Stores a clouds.yaml in a Secret. */
function storeCloudsYaml(
  scene: Scene,
  { auth, ...rest }: NonNullable<Given['yaml']>,
  insecure: boolean,
): void {
  const usual = { username: 'ops', password: 'secret-word', project_id: 'project-1' };
  const cloud = { auth: { auth_url: good.url, ...usual, ...auth }, ...rest };
  const file = stringify({ clouds: { mine: { ...cloud, ...(insecure && { verify: false }) } } });
  const data = { 'clouds.yaml': Buffer.from(file).toString('base64') };
  scene.kube.secrets.set('multinic-system/clouds', { metadata: { name: 'clouds' }, data });
}

/** Returns spec.credentials for the given input. */
function credentialsOf({ direct, yaml }: Given): OpenstackConfigSpec['credentials'] {
  const own = { k8sProviderID: 'biz-1' };
  const project = { projectID: 'project-1' };
  if (direct) return { ...own, ...project, ...account, authURL: good.url, ...direct };
  if (yaml) return { ...own, secretRef: { name: 'clouds' } };
  return { ...own, ...project, openstackProviderID: 'cloud-1' };
}

/**
 * Syncs an OpenstackConfig with the given input; `insecure` also disables certificate verification in the
 * config.
 */
async function syncWith(scene: Scene, what: Given, insecure = false): Promise<string> {
  given = what;
  const { yaml, settings = {} } = what;
  if (yaml) storeCloudsYaml(scene, yaml, insecure);
  const field = settings.contrabassEndpoint ? 'contrabassInsecureTLS' : 'openstackInsecureTLS';
  const unverified = insecure && !yaml ? { [field]: true } : {};
  scene.create({ credentials: credentialsOf(what), settings: { ...settings, ...unverified } });
  await scene.look();
  return scene.ready();
}

/** Credentials in the object, which name no cloud of Contrabass. */
const direct = { ...account, authURL: 'http://127.0.0.1:9', openstackProviderID: '' };

const everywhere = { ALLOWED_ENDPOINTS: 'http://127.0.0.1:*,https://127.0.0.1:*' };

describe('the endpoint policy', () => {
  it('the policy test covers every spec field with an endpoint or provider', () => {
    const fields = textsIn(z.toJSONSchema(openstackConfigSpec, { io: 'input' }), 'spec');
    const known = [...Object.keys(endpointSources), ...providers, ...otherFields];
    expect(fields.filter((field) => !known.includes(field))).toEqual([]);
    const named = known.filter((field) => field.startsWith('spec.'));
    expect(named.filter((field) => !fields.includes(field))).toEqual([]);
  });

  describe.each(Object.entries(endpointSources))('the endpoint policy for %s', (name, at) => {
    it('the policy denies an unlisted endpoint without a connection', async () => {
      const scene = await sceneWith({ ALLOWED_ENDPOINTS: good.url });
      // The operator's own Contrabass may name any endpoint except internal addresses.
      const ready = await syncWith(scene, at(bad.url));
      expect(ready).toContain('False PolicyDenied:');
      expect(ready).toContain(name.startsWith('spec.') ? name : bad.url);
      expect(bad.connections).toBe(0);
      expect(scene.viola.posts).toEqual([]);
    });

    it('the policy allows a connection to a listed endpoint', async () => {
      const ready = await syncWith(await sceneWith(everywhere), at(bad.url));
      expect(ready).not.toContain('PolicyDenied');
      expect(bad.connections).toBeGreaterThan(0);
    });

    it('the policy denies a URL with user info, and keeps the user info out of status, events and logs', async () => {
      const scene = await sceneWith(everywhere);
      const ready = await syncWith(scene, at(bad.url.replace('//', '//ops:hush-hush@')));
      expect(ready).toMatch(/^False PolicyDenied: .* must not contain a user name or password/);
      const shown = [scene.object()?.status, scene.events, scene.lines];
      expect(JSON.stringify(shown)).not.toContain('hush-hush');
      expect(bad.connections).toBe(0);
    });
  });

  const withTls = Object.entries(endpointSources).filter(([name]) => !name.includes('viola'));
  describe.each(withTls)('the certificate policy for %s', (_name, at) => {
    it('the policy denies an unverified certificate without a connection, and names the requesting field', async () => {
      const ready = await syncWith(await sceneWith(everywhere), at(badTls.url), true);
      expect(ready).toMatch(/^False PolicyDenied: .*(InsecureTLS is true|sets verify: false)/);
      expect(ready).toContain(badTls.url);
      expect(ready).toContain("not in the operator's INSECURE_TLS_ENDPOINTS");
      expect(badTls.connections).toBe(0);
    });

    it.each([
      { INSECURE_TLS_ENDPOINTS: 'https://127.0.0.1:*' },
      { INSECURE_TLS_ENDPOINTS: '*' },
      { OPENSTACK_INSECURE_TLS: 'true', CONTRABASS_INSECURE_TLS: 'true' },
    ])('the policy allows unverified certificates with %j', async (env) => {
      const scene = await sceneWith({ ...everywhere, ...env });
      const ready = await syncWith(scene, at(badTls.url), true);
      expect(ready).not.toContain('PolicyDenied');
      expect(tlsRequests).not.toEqual([]);
    });
  });

  it.each([
    [{ ALLOWED_PROVIDERS: 'other' }, 'spec.credentials.openstackProviderID "cloud-1"'],
    [{ ALLOWED_PROVIDERS: 'cloud-1' }, 'spec.credentials.k8sProviderID "biz-1"'],
    [{ ALLOWED_PROVIDERS: 'cloud-10,biz-1' }, 'spec.credentials.openstackProviderID "cloud-1"'],
    [{ ALLOWED_NAMESPACES: 'multinic' }, 'metadata.namespace "multinic-system"'],
  ])('the policy %j denies %s without a call', async (env, what) => {
    const ready = await syncWith(await sceneWith({ ...everywhere, ...env }), {});
    const [setting] = Object.keys(env);
    expect(ready).toContain(`False PolicyDenied: ${what} is not in the operator's ${setting}`);
    expect(calls).toEqual([]);
  });

  it.each([
    ['k8sProviderID', {}, 'biz-1'],
    ['openstackProviderID', { k8sProviderID: '' }, 'cloud-1'],
    ['DEFAULT_K8S_PROVIDER_ID', { ...direct, k8sProviderID: '' }, 'biz-9'],
  ])('NAMESPACE_CLUSTERS denies a business cluster from %s without a call', async (_, more, id) => {
    const map = { NAMESPACE_CLUSTERS: 'other=*,multinic-system=else' };
    const scene = await sceneWith({ ...everywhere, ...map, DEFAULT_K8S_PROVIDER_ID: 'biz-9' });
    scene.create({ credentials: { ...credentialsOf({}), ...more } });
    await scene.look();
    expect(scene.ready()).toBe(
      `False PolicyDenied: spec.credentials.k8sProviderID "${id}" is not a business cluster of namespace "multinic-system" in the operator's NAMESPACE_CLUSTERS; set an allowed business cluster, or let an administrator add multinic-system=${id}`,
    );
    expect(calls).toEqual([]);
  });

  it.each([
    { ALLOWED_PROVIDERS: 'biz-1,cloud-1' },
    { ALLOWED_NAMESPACES: 'other,multinic-system' },
    { NAMESPACE_CLUSTERS: 'other=biz-1,multinic-*=biz-*' },
  ])('the policy %j allows a matching OpenstackConfig', async (env) => {
    const ready = await syncWith(await sceneWith({ ...everywhere, ...env }), {});
    expect(ready).not.toContain('PolicyDenied');
    expect(calls).not.toEqual([]);
  });

  it('ALLOWED_PROVIDERS also applies to a config with only a business cluster id', async () => {
    const scene = await sceneWith({ ...everywhere, ALLOWED_PROVIDERS: 'cloud-1' });
    expect(await syncWith(scene, { direct: {} })).toContain('k8sProviderID "biz-1" is not in');
    expect(calls).toEqual([]);
  });
});

interface JsonSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
}

/** Returns the paths of all fields containing text. */
function textsIn(schema: unknown, path: string): string[] {
  const { type, properties, items } = schema as JsonSchema;
  if (properties) {
    return Object.entries(properties).flatMap(([name, inner]) => textsIn(inner, `${path}.${name}`));
  }
  if (items) return textsIn(items, path);
  return type === 'string' || type === 'object' ? [path] : [];
}
