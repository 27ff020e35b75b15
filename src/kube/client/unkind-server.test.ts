import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { createFakeClock, until } from '../../time/fake-clock.ts';
import { loadKubeconfig } from '../access/kubeconfig.ts';
import { configMaps } from '../core-resources.ts';
import type { KubeError } from '../errors.ts';
import { caCert, clientCert, clientKey, serverCert, serverKey } from '../testing/certificates.ts';
import {
  answer,
  disposeAfterTest,
  type Script,
  startScriptedServer,
} from '../testing/scripted-server.ts';
import { createKubeClient } from './http-client.ts';

const ref = { namespace: 'ns', name: 'a' };
const found: Script = (_, response) => answer(response, 200, { metadata: ref });

async function bench(script: Script, path = '') {
  const server = await startScriptedServer(script);
  const clock = createFakeClock();
  const client = createKubeClient({ server: `${server.url}${path}` }, { clock });
  disposeAfterTest(client, server);
  return { server, clock, client };
}

describe('faulty API server or proxy', () => {
  test.each([86_400, 3_000_000])(
    'a Retry-After above five minutes (%d s) is capped at five minutes',
    async (seconds) => {
      const { client } = await bench((_, response) =>
        answer(response, 503, {}, { 'retry-after': String(seconds) }),
      );
      const error = await client.get(configMaps, ref).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ status: 503, retryAfterMs: 300_000 });
    },
  );

  test('retryAfterSeconds in the body is capped at five minutes, too', async () => {
    const { client } = await bench((_, response) =>
      answer(response, 429, { code: 429, details: { retryAfterSeconds: 86_400 } }),
    );
    const error = await client.get(configMaps, ref).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ status: 429, retryAfterMs: 300_000 });
  });

  test.each([
    ['default backend - 404', 'text/plain'],
    ['404 page not found\n', 'text/plain'], // the API server's answer for an unserved kind
    ['{"error":"no such cluster"}', 'application/json'],
  ])('find rejects on a 404 without a NotFound Status: %s', async (page, type) => {
    const { client } = await bench((_, response) => {
      response.writeHead(404, { 'content-type': type }).end(page);
    });
    await expect(client.find(configMaps, ref)).rejects.toMatchObject({ status: 404 });
  });

  test.each([
    ['a non-UTF-8 page', 'text/html; charset=euc-kr'],
    ['an invalid JSON body', 'application/json'],
  ])('a 503 with %s is retried after Retry-After', async (_, type) => {
    const page = Buffer.from('bcadbaf1bdba', 'hex');
    const { client, clock, server } = await bench((request, response) => {
      if (server.requests.length > 1) return found(request, response);
      response.writeHead(503, { 'content-type': type, 'retry-after': '1' });
      return response.end(page);
    });
    const answered = client.get(configMaps, ref);
    await until('the pause', () => clock.waits.includes(1_000));
    await clock.advance(1_000);
    expect((await answered).metadata.name).toBe('a');
  });
});

test('onRequest reports every attempt with verb and status', async () => {
  const server = await startScriptedServer((request, response) => {
    if (request.query.has('watch')) return response.end();
    if (server.requests.length > 1) return found(request, response);
    return answer(response, 503, {});
  });
  const clock = createFakeClock();
  const attempts: string[] = [];
  const client = createKubeClient(
    { server: server.url },
    { clock, onRequest: ({ verb, status }) => attempts.push(`${verb} ${status}`) },
  );
  disposeAfterTest(client, server);
  const answered = client.get(configMaps, ref);
  await until('the pause', () => clock.waits.includes(250));
  await clock.advance(250);
  await answered;
  for await (const event of client.watch(configMaps, { resourceVersion: '1' }))
    attempts.push(event.type);
  expect(attempts).toEqual(['GET 503', 'GET 200', 'WATCH 200']);
});

test('a server URL with a path prefixes every request path', async () => {
  const { client, server } = await bench(found, '/k8s/clusters/c-m-abc/');
  await client.get(configMaps, ref);
  expect(server.requests[0]?.path).toBe('/k8s/clusters/c-m-abc/api/v1/namespaces/ns/configmaps/a');
});

describe('certificate files', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'certificates-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);

  /** Creates a client from a kubeconfig with certificate files, for a server requesting client certificates. */
  async function secured() {
    const clients: string[] = [];
    const script: Script = (request, response) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate();
      clients.push(String(subject.CN));
      response.setHeader('connection', 'close');
      found(request, response);
    };
    // Only the identity counts here, not the certificate's validity.
    const asks = { ca: caCert, requestCert: true, rejectUnauthorized: false };
    const tls = { cert: serverCert, key: serverKey, ...asks };
    const server = await startScriptedServer(script, tls);
    const files = { 'client-certificate': 'client.crt', 'client-key': 'client.key' };
    const cluster = { server: server.url, 'certificate-authority': 'ca.crt' };
    const kubeconfig = {
      'current-context': 'c',
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user: files }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    };
    write('kubeconfig', stringify(kubeconfig));
    const access = await loadKubeconfig(join(folder, 'kubeconfig'));
    const client = createKubeClient(access, { clock: createFakeClock() });
    disposeAfterTest(client, server);
    return { client, clients };
  }

  test('certificate files are read for every connection, and rotation needs no restart', async () => {
    write('ca.crt', clientCert); // another CA
    write('client.crt', serverCert);
    write('client.key', serverKey);
    const { client, clients } = await secured();
    const create = () => client.create(configMaps, { metadata: ref });
    expect(((await create().catch((error: unknown) => error)) as KubeError).message).toMatch(
      /certificate/,
    );
    write('ca.crt', caCert);
    await create();
    write('client.crt', clientCert);
    write('client.key', clientKey);
    await create();
    expect(clients).toEqual(['test-server', 'test-client']);
  });

  test.each([
    ['a truncated certificate', 'client.crt', clientCert.slice(0, 300)],
    ['a certificate for another key', 'client.crt', serverCert],
    ['an empty key file', 'client.key', ''],
    ['an invalid key', 'client.key', 'key'],
  ])('%s fails only connections during the rotation', async (_, name, text) => {
    write('ca.crt', caCert);
    write('client.crt', clientCert);
    write('client.key', clientKey);
    const { client, clients } = await secured();
    write(name, text);
    const failed = await client.create(configMaps, { metadata: ref }).catch((e: unknown) => e);
    expect(failed).toMatchObject({ reason: 'Unreachable' });
    expect(String(failed)).toContain('certificate');
    write('client.crt', clientCert);
    write('client.key', clientKey);
    await client.create(configMaps, { metadata: ref });
    expect(clients).toEqual(['test-client']);
  });

  test('an empty CA file fails the connection instead of trusting all CAs', async () => {
    write('ca.crt', caCert);
    const { client, clients } = await secured();
    write('ca.crt', '');
    const failed = await client.create(configMaps, { metadata: ref }).catch((e: unknown) => e);
    expect(String(failed)).toContain('ca.crt is empty');
    expect(clients).toEqual([]);
  });
});
