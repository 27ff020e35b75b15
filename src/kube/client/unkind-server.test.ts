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

describe('what a server or something before it may say', () => {
  test.each([86_400, 3_000_000])(
    'a Retry-After of %d s is taken as five minutes',
    async (seconds) => {
      const { client } = await bench((_, response) =>
        answer(response, 503, {}, { 'retry-after': String(seconds) }),
      );
      const error = await client.get(configMaps, ref).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ status: 503, retryAfterMs: 300_000 });
    },
  );

  test('so is the one in the body', async () => {
    const { client } = await bench((_, response) =>
      answer(response, 429, { code: 429, details: { retryAfterSeconds: 86_400 } }),
    );
    const error = await client.get(configMaps, ref).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ status: 429, retryAfterMs: 300_000 });
  });

  test.each([
    ['default backend - 404', 'text/plain'],
    ['404 page not found\n', 'text/plain'], // the API server itself, of a kind that it does not serve
    ['{"error":"no such cluster"}', 'application/json'],
  ])(
    'a 404 that is no word of the API server about an object says nothing of it: %s',
    async (page, type) => {
      const { client } = await bench((_, response) => {
        response.writeHead(404, { 'content-type': type }).end(page);
      });
      await expect(client.find(configMaps, ref)).rejects.toMatchObject({ status: 404 });
    },
  );

  test.each([
    ['a page that is not UTF-8', 'text/html; charset=euc-kr'],
    ['a body that says it is JSON and is not', 'application/json'],
  ])('%s is a 503 all the same, and tried again', async (_, type) => {
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

test('every try is told, with what came of it', async () => {
  const server = await startScriptedServer((request, response) => {
    if (request.query.has('watch')) return response.end();
    if (server.requests.length > 1) return found(request, response);
    return answer(response, 503, {});
  });
  const clock = createFakeClock();
  const told: string[] = [];
  const client = createKubeClient(
    { server: server.url },
    { clock, onRequest: ({ verb, status }) => told.push(`${verb} ${status}`) },
  );
  disposeAfterTest(client, server);
  const answered = client.get(configMaps, ref);
  await until('the pause', () => clock.waits.includes(250));
  await clock.advance(250);
  await answered;
  for await (const event of client.watch(configMaps, { resourceVersion: '1' }))
    told.push(event.type);
  expect(told).toEqual(['GET 503', 'GET 200', 'WATCH 200']);
});

test('a server under a path is asked there', async () => {
  const { client, server } = await bench(found, '/k8s/clusters/c-m-abc/');
  await client.get(configMaps, ref);
  expect(server.requests[0]?.path).toBe('/k8s/clusters/c-m-abc/api/v1/namespaces/ns/configmaps/a');
});

describe('certificates in files', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'certificates-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);

  /** A client by a kubeconfig that names files, of a server that asks for client certificates. */
  async function secured() {
    const seen: string[] = [];
    const script: Script = (request, response) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate();
      seen.push(String(subject.CN));
      response.setHeader('connection', 'close');
      found(request, response);
    };
    // Only who it is counts here, not whether it may be used so.
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
    return { client, seen };
  }

  test('are read again for every connection: a process outlives their rotation', async () => {
    write('ca.crt', clientCert); // some other authority
    write('client.crt', serverCert);
    write('client.key', serverKey);
    const { client, seen } = await secured();
    const create = () => client.create(configMaps, { metadata: ref });
    expect(((await create().catch((error: unknown) => error)) as KubeError).message).toMatch(
      /certificate/,
    );
    write('ca.crt', caCert);
    await create();
    write('client.crt', clientCert);
    write('client.key', clientKey);
    await create();
    expect(seen).toEqual(['test-server', 'test-client']);
  });

  test.each([
    ['half of a certificate', 'client.crt', clientCert.slice(0, 300)],
    ['the certificate of another key', 'client.crt', serverCert],
    ['a key that is not written yet', 'client.key', ''],
    ['a key that is none', 'client.key', 'key'],
  ])('%s fails what needs it, and nothing else', async (_, name, text) => {
    write('ca.crt', caCert);
    write('client.crt', clientCert);
    write('client.key', clientKey);
    const { client, seen } = await secured();
    write(name, text);
    const failed = await client.create(configMaps, { metadata: ref }).catch((e: unknown) => e);
    expect(failed).toMatchObject({ reason: 'Unreachable' });
    expect(String(failed)).toContain('certificate');
    write('client.crt', clientCert);
    write('client.key', clientKey);
    await client.create(configMaps, { metadata: ref });
    expect(seen).toEqual(['test-client']);
  });

  test('an authority that is not written yet trusts nobody', async () => {
    write('ca.crt', caCert);
    const { client, seen } = await secured();
    write('ca.crt', '');
    const failed = await client.create(configMaps, { metadata: ref }).catch((e: unknown) => e);
    expect(String(failed)).toContain('ca.crt is empty');
    expect(seen).toEqual([]);
  });
});
