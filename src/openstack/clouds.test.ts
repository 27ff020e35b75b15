import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLogger } from '../process/log.ts';
import { systemClock, systemRandom } from '../time/clock.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import { type CloudIdentity, passwordAuth } from './cloud-identity.ts';
import { type Clouds, type CloudsOptions, createClouds } from './clouds.ts';

const signal = AbortSignal.timeout(60_000);
let server: Server;
let base: string;
/** Regions for Neutron and Nova endpoints in the catalog. */
let catalogRegions: readonly string[];
/** Regions per service type; overrides `catalogRegions`. */
let regions: { readonly [type: string]: readonly string[] };
let logins: number;
/** Password that Keystone accepts; undefined: any. */
let acceptedPassword: string | undefined;
let requestedPaths: string[];

async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { url = '' } = request;
  const isLogin = url.endsWith('/auth/tokens');
  const requestBody = await text(request);
  if (isLogin) logins += 1;
  else requestedPaths.push(url.split('?')[0] ?? '');
  const token = {
    project: { id: 'project' },
    issued_at: at(0),
    expires_at: at(logins === 1 ? 0 : 60),
    catalog: catalog(),
  };
  const body = isLogin ? { token } : { ports: [] };
  const refused =
    acceptedPassword !== undefined && !requestBody.includes(`"password":"${acceptedPassword}"`);
  response.writeHead(isLogin ? (refused ? 401 : 201) : 200, {
    'x-subject-token': `t${logins}`,
  });
  response.end(JSON.stringify(body));
}

/** Fake Keystone whose first token expires at once, and services with empty lists. */
beforeEach(async () => {
  catalogRegions = ['one'];
  regions = {};
  logins = 0;
  acceptedPassword = undefined;
  requestedPaths = [];
  server = createServer((request, response) => {
    void reply(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

function at(minutes: number): string {
  return new Date(Date.UTC(2026, 0, 1, 0, minutes)).toISOString();
}

function catalog() {
  return ['network', 'compute'].map((type) => ({
    type,
    endpoints: (regions[type] ?? catalogRegions).map((region) => ({
      interface: 'public',
      region,
      url: `${base}/${region}`,
    })),
  }));
}

function open(options: Partial<CloudsOptions> = {}): Clouds {
  const log = createLogger({ part: 'test', level: 'silent' });
  return createClouds({
    clock: systemClock,
    random: systemRandom,
    log,
    ...options,
  });
}

const account = { username: 'admin', password: 'p', domainName: 'Default', projectId: 'project' };

function as(change: Partial<typeof account>): Pick<CloudIdentity, 'auth'> {
  return { auth: passwordAuth({ ...account, ...change }) };
}

function identity(change: Partial<CloudIdentity> = {}): CloudIdentity {
  const settings = {
    keystoneUrl: base,
    interface: 'public',
    tls: {},
    timeoutMs: 30_000,
  } as const;
  return { ...settings, ...as({}), ...change };
}

describe('refused password', () => {
  const refused = { kind: 'badCredential' };

  test('a refused password is not retried for other projects or URL spellings; a changed password is tried at once', async () => {
    await using clouds = open();
    acceptedPassword = 'changed';
    await expect(clouds.get(identity()).portsOf(['s1'], signal)).rejects.toMatchObject(refused);
    const tries = logins;
    const another = clouds.get(identity(as({ projectId: 'another' })));
    await expect(another.portsOf(['s1'], signal)).rejects.toMatchObject(refused);
    for (const keystoneUrl of [`${base}/`, `${base}/v3`, ` ${base.toUpperCase()}/v3/`]) {
      const spelt = clouds.get(identity({ keystoneUrl }));
      await expect(spelt.portsOf(['s1'], signal)).rejects.toMatchObject(refused);
    }
    expect(logins).toBe(tries);
    await clouds.get(identity(as({ password: 'changed' }))).portsOf(['s1'], signal);
    expect(requestedPaths).toEqual(['/one/v2.0/ports']);
  });

  test('a refused password is retried once per new login request', async () => {
    await using clouds = open();
    acceptedPassword = 'other';
    const cloud = clouds.get(identity());
    await expect(cloud.portsOf(['s1'], signal)).rejects.toMatchObject(refused);
    acceptedPassword = 'p';
    clouds.get(identity());
    await expect(cloud.portsOf(['s1'], signal)).rejects.toMatchObject(refused);
    clouds.get(identity(), 'asked at noon');
    await cloud.portsOf(['s1'], signal);
    expect(requestedPaths).toEqual(['/one/v2.0/ports']);
  });
});

describe('endpoint change in the catalog', () => {
  test('a moved endpoint gets a new Cloud with empty caches, and the old Cloud stops working', async () => {
    await using clouds = open();
    const first = clouds.get(identity());
    await first.portsOf(['s1'], signal);
    catalogRegions = ['two'];
    await expect(first.portsOf(['s1'], signal)).rejects.toMatchObject({
      kind: 'noEndpoint',
    });
    const second = clouds.get(identity());
    expect(second).not.toBe(first);
    await second.portsOf(['s1'], signal);
    await expect(first.portsOf(['s1'], signal)).rejects.toMatchObject({
      kind: 'noEndpoint',
    });
    expect(clouds.get(identity())).toBe(second);
    expect(requestedPaths).toEqual(['/one/v2.0/ports', '/two/v2.0/ports']);
  });

  test('a Cloud keeps its first endpoint while the catalog still lists this endpoint anywhere', async () => {
    await using clouds = open();
    const cloud = clouds.get(identity());
    await cloud.portsOf(['s1'], signal);
    catalogRegions = ['two', 'one'];
    await cloud.portsOf(['s1'], signal);
    expect(logins).toBe(2);
    expect(requestedPaths).toEqual(['/one/v2.0/ports', '/one/v2.0/ports']);
  });
});

describe('catalog with several regions and no region setting', () => {
  const both = { network: ['one', 'two'], compute: ['two', 'one'] };

  test('an ambiguous region is refused with all region names, without calling any service', async () => {
    await using clouds = open();
    regions = both;
    const cloud = clouds.get(identity());
    const refused = {
      kind: 'ambiguousRegion',
      message: expect.stringContaining('"one", "two"') as unknown,
    };
    await expect(cloud.portsOf(['s1'], signal)).rejects.toMatchObject(refused);
    await expect(cloud.server('s1', signal)).rejects.toMatchObject(refused);
    expect(requestedPaths).toEqual([]);
  });

  test('regions are refused when no region has both Neutron and Nova', async () => {
    await using clouds = open();
    regions = { network: ['one'], compute: ['two'] };
    await expect(clouds.get(identity()).portsOf(['s1'], signal)).rejects.toMatchObject({
      kind: 'ambiguousRegion',
      message: expect.stringContaining('set openstackNeutronEndpoint or') as unknown,
    });
  });

  test('the only region with both services is chosen, in any catalog order', async () => {
    await using clouds = open();
    regions = { network: ['one', 'two'], compute: ['TWO', 'three'] };
    const cloud = clouds.get(identity());
    await cloud.portsOf(['s1'], signal);
    await expect(cloud.server('s1', signal)).rejects.toThrow();
    expect(requestedPaths).toEqual(['/two/v2.0/ports', '/TWO/v2.1/servers/s1']);
  });

  test('region choice ignores services with a configured URL', async () => {
    await using clouds = open();
    regions = { network: ['one', 'two'], compute: ['three'] };
    const cloud = clouds.get(identity({ neutronUrl: `${base}/own` }));
    await cloud.portsOf(['s1'], signal);
    await expect(cloud.server('s1', signal)).rejects.toThrow();
    expect(requestedPaths).toEqual(['/own/v2.0/ports', '/three/v2.1/servers/s1']);
  });
});

test('an endpoint denied by policy receives no token', async () => {
  await using clouds = open({
    denied: (url, { allowedEndpoints = [] }) =>
      `${new URL(url).pathname} is not in ${allowedEndpoints.join(',')}`,
  });
  const cloud = clouds.get(identity({ allowedEndpoints: ['https://a.test'] }));
  await expect(cloud.portsOf(['s1'], signal)).rejects.toMatchObject({
    kind: 'denied',
    message: expect.stringContaining('which /one is not in https://a.test') as unknown,
  });
  expect(requestedPaths).toEqual([]);
});

test('a Cloud stays the same object while in use and is dropped after two idle hours', async () => {
  const clock = createFakeClock();
  await using clouds = open({ clock });
  const many = Array.from({ length: 1_000 }, (_, n) => identity(as({ projectId: `project-${n}` })));
  const first = many.map((one) => clouds.get(one));
  await clock.advance(3_600_000);
  expect(many.every((one, n) => clouds.get(one) === first[n])).toBe(true);
  await clock.advance(3 * 3_600_000);
  clouds.get(identity());
  expect(clouds.get(identity(as({ projectId: 'project-1' })))).not.toBe(first[1]);
});

test('each cache reports its lookups as hit or miss', async () => {
  const lookups: string[] = [];
  await using clouds = open({
    onLookup: (cache, isHit) => lookups.push(`${cache} ${isHit ? 'hit' : 'miss'}`),
  });
  const cloud = clouds.get(identity());
  for (let n = 0; n < 3; n++) await cloud.portsWithMac('fa:16:3e:00:00:01', signal);
  // The first token expires at once.
  expect(lookups).toEqual(['tokens miss', 'tokens miss', 'tokens hit']);
  lookups.length = 0;
  const id = '00000000-0000-4000-8000-000000000001';
  const asking = [cloud.subnet(id, signal), cloud.network(id, signal), cloud.servers([id], signal)];
  await Promise.allSettled([...asking, cloud.subnetsByName('a', signal)]);
  const misses = ['networks', 'servers', 'subnet_names', 'subnets'].map((cache) => `${cache} miss`);
  expect(lookups.filter((one) => !one.startsWith('tokens')).toSorted()).toEqual(misses);
});
