import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encryptPassword } from '../../rig/cloud/encrypt-password.ts';
import { createLogger } from '../process/log.ts';
import { testCertificate, testKey } from '../requests/test-certificate.ts';
import { systemClock } from '../time/clock.ts';
import { passwordAuth } from './cloud-identity.ts';
import { type Clouds, createClouds } from './clouds.ts';
import type { Provider, ProviderRequest } from './contrabass.ts';

const signal = AbortSignal.timeout(60_000);
const encryptKey = '0123456789abcdef';
/** The password that Contrabass names. */
let named: string;
let asked: number;
/** What Keystone answers to every login. */
let loginStatus: number;
let clouds: Clouds;
const servers: Server[] = [];

async function serve(server: Server): Promise<string> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Contrabass and Keystone in one. */
const reply: RequestListener = ({ url = '', headers: { host } }, response) => {
  if (url.endsWith('/auth/tokens')) {
    response.writeHead(loginStatus).end('{}');
    return;
  }
  asked += 1;
  const attributes = {
    adminId: 'admin',
    adminPw: encryptPassword(named, encryptKey),
    domain: 'Default',
  };
  response.end(JSON.stringify({ data: { url: `http://${host}`, attributes } }));
};

beforeEach(() => {
  named = 'old';
  asked = 0;
  loginStatus = 401;
  const log = createLogger({ part: 'test', level: 'silent' });
  clouds = createClouds({ clock: systemClock, random: () => 0, log });
});

afterEach(async () => {
  await clouds[Symbol.asyncDispose]();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

function at(endpoint: string, tls: ProviderRequest['tls'] = {}): ProviderRequest {
  return { endpoint, providerId: 'os-1', encryptKey, timeoutMs: 10_000, tls };
}

async function logIn({ keystoneUrl, ...account }: Provider): Promise<unknown> {
  const auth = passwordAuth({ ...account, projectId: 'p1' });
  const cloud = clouds.get({
    keystoneUrl,
    auth,
    interface: 'public',
    tls: {},
    timeoutMs: 10_000,
  });
  return cloud.portsOf(['s1'], signal).catch((error: unknown) => error);
}

describe('what Contrabass said', () => {
  it('is asked for anew once Keystone refuses it, so that a changed password is found at once', async () => {
    const request = at(`http://${await serve(createServer(reply))}`);
    const before = await clouds.provider(request, signal);
    named = 'new';
    expect(await clouds.provider(request, signal)).toBe(before);
    expect(await logIn(before)).toMatchObject({ kind: 'badCredential' });
    expect(await clouds.provider(request, signal)).toMatchObject({ password: 'new' });
    expect(asked).toBe(2);
  });

  it('is remembered while Keystone only fails', async () => {
    const request = at(`http://${await serve(createServer(reply))}`);
    loginStatus = 403;
    const before = await clouds.provider(request, signal);
    expect(await logIn(before)).toMatchObject({ kind: 'forbidden' });
    expect(await clouds.provider(request, signal)).toBe(before);
    expect(asked).toBe(1);
  });
});

it('a Contrabass is asked with the authorities that hold now, whatever came of those before', async () => {
  const tls = { cert: testCertificate, key: testKey };
  const endpoint = `https://${await serve(createTlsServer(tls, reply))}`;
  await expect(clouds.provider(at(endpoint), signal)).rejects.toMatchObject({
    kind: 'unreachable',
  });
  const now = at(endpoint, { ca: testCertificate });
  expect(await clouds.provider(now, signal)).toMatchObject({ password: 'old' });
});
