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
/** Password in Contrabass' answer. */
let contrabassPassword: string;
let providerReads: number;
/** Keystone's status for each login. */
let loginStatus: number;
let clouds: Clouds;
const servers: Server[] = [];

async function serve(server: Server): Promise<string> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Fake Contrabass and Keystone in one listener. */
const reply: RequestListener = ({ url = '', headers: { host } }, response) => {
  if (url.endsWith('/auth/tokens')) {
    response.writeHead(loginStatus).end('{}');
    return;
  }
  providerReads += 1;
  const attributes = {
    adminId: 'admin',
    adminPw: encryptPassword(contrabassPassword, encryptKey),
    domain: 'Default',
  };
  response.end(JSON.stringify({ data: { url: `http://${host}`, attributes } }));
};

beforeEach(() => {
  contrabassPassword = 'old';
  providerReads = 0;
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

function requestFor(endpoint: string, tls: ProviderRequest['tls'] = {}): ProviderRequest {
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

describe('cached Contrabass answer', () => {
  it('a refused login drops the cached Contrabass answer, so a changed password is used at once', async () => {
    const request = requestFor(`http://${await serve(createServer(reply))}`);
    const before = await clouds.provider(request, signal);
    contrabassPassword = 'new';
    expect(await clouds.provider(request, signal)).toBe(before);
    expect(await logIn(before)).toMatchObject({ kind: 'badCredential' });
    expect(await clouds.provider(request, signal)).toMatchObject({ password: 'new' });
    expect(providerReads).toBe(2);
  });

  it('the Contrabass answer stays cached when Keystone answers 403', async () => {
    const request = requestFor(`http://${await serve(createServer(reply))}`);
    loginStatus = 403;
    const before = await clouds.provider(request, signal);
    expect(await logIn(before)).toMatchObject({ kind: 'forbidden' });
    expect(await clouds.provider(request, signal)).toBe(before);
    expect(providerReads).toBe(1);
  });
});

it('a Contrabass request uses the current CA bundle after an earlier request failed verification', async () => {
  const tls = { cert: testCertificate, key: testKey };
  const endpoint = `https://${await serve(createTlsServer(tls, reply))}`;
  await expect(clouds.provider(requestFor(endpoint), signal)).rejects.toMatchObject({
    kind: 'unreachable',
  });
  const now = requestFor(endpoint, { ca: testCertificate });
  expect(await clouds.provider(now, signal)).toMatchObject({ password: 'old' });
});
