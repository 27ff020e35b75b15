import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLogger } from '../process/log.ts';
import { createCaller } from '../requests/caller.ts';
import type { Service } from '../requests/request-error.ts';
import { createTransport } from '../requests/transport.ts';
import { systemClock } from '../time/clock.ts';
import { passwordAuth } from './cloud-identity.ts';
import { createClouds } from './clouds.ts';
import { answerFailure } from './requests/answer-failure.ts';

const signal = AbortSignal.timeout(60_000);
const log = createLogger({ part: 'test', level: 'silent' });
const deps = { clock: systemClock, random: () => 0, log };
const open: { close: () => Promise<void> }[] = [];
/** Target of all redirects, with a connection counter. */
let other: string;
let connections: number;

async function serve(listener: RequestListener, onConnection = () => {}): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  server.on('connection', onConnection);
  await once(server, 'listening');
  open.push({
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeEach(async () => {
  connections = 0;
  other = await serve(
    (_, response) => response.end('{}'),
    () => {
      connections += 1;
    },
  );
});

afterEach(async () => {
  await Promise.all(open.splice(0).map(async ({ close }) => close()));
});

/** Fake cloud whose `service` answers with a redirect. */
async function cloudWith(service: Service, status = 302): Promise<string> {
  return serve((request, response) => {
    const { url = '' } = request;
    const requested = url.endsWith('/auth/tokens')
      ? 'keystone'
      : (/contrabass|neutron|nova/.exec(url)?.[0] ?? '');
    if (requested === service) {
      response.writeHead(status, { location: `${other}/in?ticket=secret-word` }).end();
      return;
    }
    const [issued_at, expires_at] = ['2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z'];
    const token = { project: { id: 'p' }, issued_at, expires_at, catalog: [] };
    response.writeHead(201, { 'x-subject-token': 't' }).end(JSON.stringify({ token, ports: [] }));
  });
}

const account = { username: 'ops', domainName: 'Default', password: 'secret-word', projectId: 'p' };

async function send(status: number, location: string | undefined): Promise<unknown> {
  const base = await serve((_, response) => {
    response.writeHead(status, location === undefined ? {} : { location }).end('{}');
  });
  await using transport = createTransport({ clock: systemClock });
  const options = { ...deps, transport, tls: {}, timeoutMs: 10_000, failureOf: answerFailure };
  const call = { service: 'viola', method: 'POST', url: new URL(`${base}/v1?a=b`) } as const;
  try {
    return (await createCaller(options).call({ ...call, body: '{}' }, signal)).status;
  } catch (error) {
    return String(error).replaceAll(base, 'BASE').replaceAll(other, 'OTHER');
  }
}

describe('redirect', () => {
  test.each(['contrabass', 'keystone', 'neutron', 'nova'] as const)(
    'a redirect from %s is not followed and leaks no credentials',
    async (service) => {
      const base = await cloudWith(service);
      await using clouds = createClouds(deps);
      const cloud = clouds.get({
        keystoneUrl: base,
        auth: passwordAuth(account),
        interface: 'public',
        neutronUrl: `${base}/neutron`,
        novaUrl: `${base}/nova`,
        tls: {},
        timeoutMs: 10_000,
      });
      const provider = {
        endpoint: `${base}/contrabass`,
        providerId: 'p',
        encryptKey: '0123456789abcdef',
        timeoutMs: 10_000,
        tls: {},
      };
      const ask = {
        contrabass: async () => clouds.provider(provider, signal),
        keystone: async () => cloud.portsOf(['s1'], signal),
        neutron: async () => cloud.portsOf(['s1'], signal),
        nova: async () => cloud.server('s1', signal),
      };
      const failure: unknown = await ask[service]().catch((error: unknown) => error);
      expect(failure).toMatchObject({ service, kind: 'badAnswer' });
      expect(String(failure)).toContain(
        `answered 302, a redirect to ${other}, which is not follow`,
      );
      expect(String(failure)).not.toContain('secret-word');
      expect(connections).toBe(0);
    },
  );

  test.each([301, 302, 303, 307, 308])(
    'a redirect with status %i is not followed',
    async (status) => {
      expect(await send(status, `${other}/v1`)).toBe(
        `RequestError: viola: POST BASE/v1 answered ${status}, a redirect to OTHER, which is not followed; set the URL of the service itself`,
      );
      expect(connections).toBe(0);
    },
  );

  test.each([
    ['/login', 'BASE'],
    ['javascript:alert(1)', 'elsewhere'],
    ['http://[', 'elsewhere'],
  ])('a redirect to %s is reported as leading to %s', async (location, where) => {
    expect(await send(302, location)).toContain(`a redirect to ${where}, which`);
  });

  test('a redirect without a Location is not followed', async () => {
    expect(await send(302, undefined)).toContain('a redirect to elsewhere');
  });

  test.each([300, 304])('status %i does not count as a redirect', async (status) => {
    expect(await send(status, undefined)).toBe(status);
  });
});
