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
/** Where the catalog says that Neutron and Nova are. */
let places: readonly string[];
/** The same, when they are not at the same places. */
let regions: { readonly [type: string]: readonly string[] };
let logins: number;
/** The password that Keystone takes; any when undefined. */
let right: string | undefined;
let asked: string[];

async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { url = '' } = request;
  const isLogin = url.endsWith('/auth/tokens');
  const said = await text(request);
  if (isLogin) logins += 1;
  else asked.push(url.split('?')[0] ?? '');
  const token = {
    project: { id: 'project' },
    issued_at: at(0),
    expires_at: at(logins === 1 ? 0 : 60),
    catalog: catalog(),
  };
  const body = isLogin ? { token } : { ports: [] };
  const refused = right !== undefined && !said.includes(`"password":"${right}"`);
  response.writeHead(isLogin ? (refused ? 401 : 201) : 200, {
    'x-subject-token': `t${logins}`,
  });
  response.end(JSON.stringify(body));
}

/** A Keystone whose tokens are used up by one read, and services that know nothing. */
beforeEach(async () => {
  places = ['one'];
  regions = {};
  logins = 0;
  right = undefined;
  asked = [];
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
    endpoints: (regions[type] ?? places).map((region) => ({
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
  const place = {
    keystoneUrl: base,
    interface: 'public',
    tls: {},
    timeoutMs: 30_000,
  } as const;
  return { ...place, ...as({}), ...change };
}

describe('a password that Keystone refused', () => {
  const refused = { kind: 'badCredential' };

  test('is not tried again by another project or another spelling of the URL, while a changed one is at once', async () => {
    await using clouds = open();
    right = 'changed';
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
    expect(asked).toEqual(['/one/v2.0/ports']);
  });

  test('is tried again when somebody asks, once for what they ask with', async () => {
    await using clouds = open();
    right = 'other';
    const cloud = clouds.get(identity());
    await expect(cloud.portsOf(['s1'], signal)).rejects.toMatchObject(refused);
    right = 'p';
    clouds.get(identity());
    await expect(cloud.portsOf(['s1'], signal)).rejects.toMatchObject(refused);
    clouds.get(identity(), 'asked at noon');
    await cloud.portsOf(['s1'], signal);
    expect(asked).toEqual(['/one/v2.0/ports']);
  });
});

describe('a service that the catalog names at another place than before', () => {
  test('is not asked by the Cloud that knows the first place, but by a new one that knows nothing', async () => {
    await using clouds = open();
    const first = clouds.get(identity());
    await first.portsOf(['s1'], signal);
    places = ['two'];
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
    expect(asked).toEqual(['/one/v2.0/ports', '/two/v2.0/ports']);
  });

  test('is asked at the first place as long as the catalog names it, wherever in the list', async () => {
    await using clouds = open();
    const cloud = clouds.get(identity());
    await cloud.portsOf(['s1'], signal);
    places = ['two', 'one'];
    await cloud.portsOf(['s1'], signal);
    expect(logins).toBe(2);
    expect(asked).toEqual(['/one/v2.0/ports', '/one/v2.0/ports']);
  });
});

describe('a catalog of several regions, of which none was chosen', () => {
  const both = { network: ['one', 'two'], compute: ['two', 'one'] };

  test('is refused with their names: ports of one region are not those of servers of another', async () => {
    await using clouds = open();
    regions = both;
    const cloud = clouds.get(identity());
    const refused = {
      kind: 'ambiguousRegion',
      message: expect.stringContaining('"one", "two"') as unknown,
    };
    await expect(cloud.portsOf(['s1'], signal)).rejects.toMatchObject(refused);
    await expect(cloud.server('s1', signal)).rejects.toMatchObject(refused);
    expect(asked).toEqual([]);
  });

  test('is refused when no region has both services', async () => {
    await using clouds = open();
    regions = { network: ['one'], compute: ['two'] };
    await expect(clouds.get(identity()).portsOf(['s1'], signal)).rejects.toMatchObject({
      kind: 'ambiguousRegion',
      message: expect.stringContaining('set openstackNeutronEndpoint or') as unknown,
    });
  });

  test('leaves the only one that has both services, in whichever order they are named', async () => {
    await using clouds = open();
    regions = { network: ['one', 'two'], compute: ['TWO', 'three'] };
    const cloud = clouds.get(identity());
    await cloud.portsOf(['s1'], signal);
    await expect(cloud.server('s1', signal)).rejects.toThrow();
    expect(asked).toEqual(['/two/v2.0/ports', '/TWO/v2.1/servers/s1']);
  });

  test('is none of a service whose URL is configured', async () => {
    await using clouds = open();
    regions = { network: ['one', 'two'], compute: ['three'] };
    const cloud = clouds.get(identity({ neutronUrl: `${base}/own` }));
    await cloud.portsOf(['s1'], signal);
    await expect(cloud.server('s1', signal)).rejects.toThrow();
    expect(asked).toEqual(['/own/v2.0/ports', '/three/v2.1/servers/s1']);
  });
});

test('a place that the policy forbids gets no token', async () => {
  await using clouds = open({
    denied: (url, { allowedEndpoints = [] }) =>
      `${new URL(url).pathname} is not in ${allowedEndpoints.join(',')}`,
  });
  const cloud = clouds.get(identity({ allowedEndpoints: ['https://a.test'] }));
  await expect(cloud.portsOf(['s1'], signal)).rejects.toMatchObject({
    kind: 'denied',
    message: expect.stringContaining('which /one is not in https://a.test') as unknown,
  });
  expect(asked).toEqual([]);
});

test('a Cloud stays the same while it is in use, however many there are, and goes when nobody asks for it', async () => {
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

test('what is looked up in vain is told of each cache', async () => {
  const lookups: string[] = [];
  await using clouds = open({
    onLookup: (cache, isHit) => lookups.push(`${cache} ${isHit ? 'hit' : 'miss'}`),
  });
  const cloud = clouds.get(identity());
  for (let n = 0; n < 3; n++) await cloud.portsWithMac('fa:16:3e:00:00:01', signal);
  // The first token has no life.
  expect(lookups).toEqual(['tokens miss', 'tokens miss', 'tokens hit']);
  lookups.length = 0;
  const id = '00000000-0000-4000-8000-000000000001';
  const asking = [cloud.subnet(id, signal), cloud.network(id, signal), cloud.servers([id], signal)];
  await Promise.allSettled([...asking, cloud.subnetsByName('a', signal)]);
  const told = ['networks', 'servers', 'subnet_names', 'subnets'].map((cache) => `${cache} miss`);
  expect(lookups.filter((one) => !one.startsWith('tokens')).toSorted()).toEqual(told);
});
