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
import { createViolas } from './deliver/violas.ts';
import { rulesOf } from './resolve/policy.ts';
import { type Listener, listen } from './testing/listener.ts';
import { noRecords } from './testing/no-records.ts';
import { environment, type Outside, type Scene, setScene } from './testing/scene.ts';

/** What a test of the policy says where; what is not named is at a place that is allowed. */
interface Said {
  readonly settings?: OpenstackConfigSpec['settings'];
  readonly direct?: Partial<OpenstackConfigSpec['credentials']>;
  readonly yaml?: Readonly<Record<string, unknown>> & { readonly auth?: object };
  readonly contrabass?: Readonly<Record<string, string>>;
  readonly catalog?: Readonly<Record<string, string>>;
}

const key = '0123456789abcdef';
const account = { username: 'ops', password: 'secret-word', domainName: 'Default' };

/** Everything that can name a place, and how it is named. */
const places: Readonly<Record<string, (url: string) => Said>> = {
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
  'Contrabass names Keystone': (url) => ({ contrabass: { url } }),
  'Contrabass names Neutron': (neutronUrl) => ({ contrabass: { neutronUrl } }),
  'Contrabass names Nova': (novaUrl) => ({ contrabass: { novaUrl } }),
  'catalog network': (network) => ({ catalog: { network } }),
  'catalog compute': (compute) => ({ catalog: { compute } }),
};

const providers = ['spec.credentials.openstackProviderID', 'spec.credentials.k8sProviderID'];
/** Fields of text that name neither a place nor a provider. */
const others = `subnetIDs subnetID subnetName vmNames vmSelector.metadata vmSelector.tags
  credentials.projectID credentials.username credentials.password credentials.domainName
  credentials.secretRef.name settings.contrabassEncryptKey settings.contrabassTimeout
  settings.openstackTimeout settings.openstackEndpointInterface settings.openstackEndpointRegion
  settings.openstackNodeNameMetadataKey settings.openstackPortAllowedStatuses
  settings.pollFastInterval settings.pollSlowInterval settings.pollErrorInterval
  settings.pollFastWindow settings.portBaseline settings.deletionPolicy settings.routing
  settings.addressFamilies settings.violaCompatibility
  secrets.contrabassEncryptKeySecretRef.name secrets.contrabassEncryptKeySecretRef.key`
  .split(/\s+/)
  .map((field) => `spec.${field}`);

let good: Listener;
let bad: Listener;
let badTls: Listener;
let said: Said;
let calls: string[];
/** What was said over TLS: an unknown certificate ends it before that. */
let heard: string[];
const open: AsyncDisposable[] = [];

beforeEach(async () => {
  calls = [];
  heard = [];
  said = {};
  // It answers, so that whoever comes is not kept.
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
    heard.push(url);
    response.writeHead(403).end('{}');
  });
  open.push(good, bad, badTls);
});

afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each[Symbol.asyncDispose]();
});

/** A Contrabass, Keystone, Neutron, Nova and Viola that know nothing but where the others are. */
function replyOf(url: string): { readonly status: number; readonly body: unknown } {
  if (url.includes('/contrabass/')) {
    const { url: keystone = good.url, ...named } = said.contrabass ?? {};
    const adminPw = encryptPassword('secret-word', key);
    const attributes = { adminId: 'ops', adminPw, domain: 'Default', ...named };
    return { status: 200, body: { data: { url: keystone, attributes } } };
  }
  // Whoever has no port is looked for by Nova.
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
    const endpoint = { interface: 'public', region: 'one', url: said.catalog?.[type] ?? good.url };
    return { type, endpoints: [endpoint] };
  });
  const [issued_at, expires_at] = ['2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z'];
  const token = { project: { id: 'project-1' }, issued_at, expires_at, catalog };
  return { status: 201, body: { token } };
}

const log = createLogger({ part: 'test', level: 'silent' });
const deps = { clock: systemClock, random: () => 0, log, records: noRecords };
const outside: Outside = {
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
  const scene = await setScene({ ...environment, ...own, ...env }, outside);
  open.push(scene);
  const data = { CONTRABASS_ENCRYPT_KEY: Buffer.from(key).toString('base64') };
  scene.kube.secrets.set('multinic-system/contrabass-encrypt-key', {
    metadata: { name: 'contrabass-encrypt-key' },
    data,
  });
  return scene;
}

/** Keeps a clouds.yaml in a Secret. */
function keep(scene: Scene, { auth, ...rest }: NonNullable<Said['yaml']>, insecure: boolean): void {
  const usual = { username: 'ops', password: 'secret-word', project_id: 'project-1' };
  const cloud = { auth: { auth_url: good.url, ...usual, ...auth }, ...rest };
  const file = stringify({ clouds: { mine: { ...cloud, ...(insecure && { verify: false }) } } });
  const data = { 'clouds.yaml': Buffer.from(file).toString('base64') };
  scene.kube.secrets.set('multinic-system/clouds', { metadata: { name: 'clouds' }, data });
}

/** As spec.credentials. */
function credentialsOf({ direct, yaml }: Said): OpenstackConfigSpec['credentials'] {
  const own = { k8sProviderID: 'biz-1' };
  const project = { projectID: 'project-1' };
  if (direct) return { ...own, ...project, ...account, authURL: good.url, ...direct };
  if (yaml) return { ...own, secretRef: { name: 'clouds' } };
  return { ...own, ...project, openstackProviderID: 'cloud-1' };
}

/** Looks at an OpenstackConfig that says all this; `insecure` has it say besides that nothing is verified. */
async function look(scene: Scene, what: Said, insecure = false): Promise<string> {
  said = what;
  const { yaml, settings = {} } = what;
  if (yaml) keep(scene, yaml, insecure);
  const field = settings.contrabassEndpoint ? 'contrabassInsecureTLS' : 'openstackInsecureTLS';
  const unverified = insecure && !yaml ? { [field]: true } : {};
  scene.create({ credentials: credentialsOf(what), settings: { ...settings, ...unverified } });
  await scene.look();
  return scene.ready();
}

const everywhere = { ALLOWED_ENDPOINTS: 'http://127.0.0.1:*,https://127.0.0.1:*' };

describe('the policy', () => {
  it('knows every field that may name a place or a provider', () => {
    const fields = textsIn(z.toJSONSchema(openstackConfigSpec, { io: 'input' }), 'spec');
    const known = [...Object.keys(places), ...providers, ...others];
    expect(fields.filter((field) => !known.includes(field))).toEqual([]);
    const named = known.filter((field) => field.startsWith('spec.'));
    expect(named.filter((field) => !fields.includes(field))).toEqual([]);
  });

  describe.each(Object.entries(places))('on what %s names', (name, at) => {
    it('denies a place without a connection to it', async () => {
      const scene = await sceneWith({ ALLOWED_ENDPOINTS: good.url });
      // The operator's own Contrabass may name any place that is no inner one.
      const ready = await look(scene, at(bad.url));
      expect(ready).toContain('False PolicyDenied:');
      expect(ready).toContain(name.startsWith('spec.') ? name : bad.url);
      expect(bad.connections).toBe(0);
      expect(scene.viola.posts).toEqual([]);
    });

    it('lets a place be called that is allowed', async () => {
      const ready = await look(await sceneWith(everywhere), at(bad.url));
      expect(ready).not.toContain('PolicyDenied');
      expect(bad.connections).toBeGreaterThan(0);
    });

    it('shows nobody what stands before the @ of a URL', async () => {
      const scene = await sceneWith(everywhere);
      const ready = await look(scene, at(bad.url.replace('//', '//ops:hush-hush@')));
      expect(ready).toMatch(/^False PolicyDenied: .* must not carry a user name or password/);
      const shown = [scene.object()?.status, scene.events, scene.lines];
      expect(JSON.stringify(shown)).not.toContain('hush-hush');
      expect(bad.connections).toBe(0);
    });
  });

  const withTls = Object.entries(places).filter(([name]) => !name.includes('viola'));
  describe.each(withTls)('on certificates at what %s names', (_name, at) => {
    it('has them verified, and says who wished otherwise, without a connection', async () => {
      const ready = await look(await sceneWith(everywhere), at(badTls.url), true);
      expect(ready).toMatch(/^False PolicyDenied: .*(InsecureTLS is true|says verify: false)/);
      expect(ready).toContain(badTls.url);
      expect(ready).toContain("not in the operator's INSECURE_TLS_ENDPOINTS");
      expect(badTls.connections).toBe(0);
    });

    it.each([
      { INSECURE_TLS_ENDPOINTS: 'https://127.0.0.1:*' },
      { INSECURE_TLS_ENDPOINTS: '*' },
      { OPENSTACK_INSECURE_TLS: 'true', CONTRABASS_INSECURE_TLS: 'true' },
    ])('lets them go unverified with %j', async (env) => {
      const scene = await sceneWith({ ...everywhere, ...env });
      const ready = await look(scene, at(badTls.url), true);
      expect(ready).not.toContain('PolicyDenied');
      expect(heard).not.toEqual([]);
    });
  });

  it.each([
    [{ ALLOWED_PROVIDERS: 'other' }, 'spec.credentials.openstackProviderID "cloud-1"'],
    [{ ALLOWED_PROVIDERS: 'cloud-1' }, 'spec.credentials.k8sProviderID "biz-1"'],
    [{ ALLOWED_PROVIDERS: 'cloud-10,biz-1' }, 'spec.credentials.openstackProviderID "cloud-1"'],
    [{ ALLOWED_NAMESPACES: 'multinic' }, 'metadata.namespace "multinic-system"'],
  ])('with %j denies %s without a call', async (env, what) => {
    const ready = await look(await sceneWith({ ...everywhere, ...env }), {});
    const [setting] = Object.keys(env);
    expect(ready).toContain(`False PolicyDenied: ${what} is not in the operator's ${setting}`);
    expect(calls).toEqual([]);
  });

  it.each([
    { ALLOWED_PROVIDERS: 'biz-1,cloud-1' },
    { ALLOWED_NAMESPACES: 'other,multinic-system' },
  ])('with %j lets an OpenstackConfig through', async (env) => {
    const ready = await look(await sceneWith({ ...everywhere, ...env }), {});
    expect(ready).not.toContain('PolicyDenied');
    expect(calls).not.toEqual([]);
  });

  it('holds for whoever names a business cluster alone', async () => {
    const scene = await sceneWith({ ...everywhere, ALLOWED_PROVIDERS: 'cloud-1' });
    expect(await look(scene, { direct: {} })).toContain('k8sProviderID "biz-1" is not in');
    expect(calls).toEqual([]);
  });
});

interface JsonSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
}

/** Paths of all fields below which there is text. */
function textsIn(schema: unknown, path: string): string[] {
  const { type, properties, items } = schema as JsonSchema;
  if (properties) {
    return Object.entries(properties).flatMap(([name, inner]) => textsIn(inner, `${path}.${name}`));
  }
  if (items) return textsIn(items, path);
  return type === 'string' || type === 'object' ? [path] : [];
}
