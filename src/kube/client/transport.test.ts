import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createFakeClock } from '../../time/fake-clock.ts';
import type { ClusterAccess } from '../access/access.ts';
import { type ConfigMap, configMaps } from '../core-resources.ts';
import { caCert, clientCert, clientKey, serverCert, serverKey } from '../testing/certificates.ts';
import { answer, disposeAfterTest, startScriptedServer } from '../testing/scripted-server.ts';
import { createKubeClient } from './http-client.ts';

const one = { kind: 'ConfigMap', metadata: { namespace: 'ns', name: 'one' } };
const ref = { namespace: 'ns', name: 'one' };

describe('TLS', () => {
  const tls = {
    cert: serverCert,
    key: serverKey,
    ca: caCert,
    requestCert: true,
    rejectUnauthorized: true,
  };

  async function connect(access: Partial<ClusterAccess>): Promise<ConfigMap> {
    const server = await startScriptedServer((_, response) => answer(response, 200, one), tls);
    const client = createKubeClient(
      { server: server.url, ...access },
      { clock: createFakeClock() },
    );
    disposeAfterTest(client, server);
    return client.create(configMaps, { metadata: ref });
  }

  test('trusts the given CA and shows the client certificate', async () => {
    expect(await connect({ ca: caCert, clientCert, clientKey })).toMatchObject(one);
  });

  test('trusts nobody without it', async () => {
    await expect(connect({ clientCert, clientKey })).rejects.toThrow(/certificate/);
  });

  test('speaks HTTP/1.1 to a server that would rather speak HTTP/2', async () => {
    const versions: string[] = [];
    const server = createSecureServer({ ...tls, allowHTTP1: true }, ({ httpVersion }, response) => {
      versions.push(httpVersion);
      response.end(JSON.stringify(one));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const access = { server: `https://127.0.0.1:${port}`, ca: caCert, clientCert, clientKey };
    const client = createKubeClient(access, { clock: createFakeClock() });
    await client.get(configMaps, ref);
    await client[Symbol.asyncDispose]();
    server.close();
    expect(versions).toEqual(['1.1']);
  });

  test('refuses a server of another name', async () => {
    const access = { ca: caCert, clientCert, clientKey, tlsServerName: 'api.example.com' };
    await expect(connect(access)).rejects.toThrow(/api.example.com/);
  });

  test('without a client certificate is refused by a server that asks for one', async () => {
    await expect(connect({ ca: caCert })).rejects.toMatchObject({ reason: 'Unreachable' });
  });
});
