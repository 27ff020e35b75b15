import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import { type AddressInfo, connect as connectTo, createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../time/clock.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import type { ClusterAccess } from '../access/access.ts';
import { type ConfigMap, configMaps } from '../core-resources.ts';
import { caCert, clientCert, clientKey, serverCert, serverKey } from '../testing/certificates.ts';
import { answer, disposeAfterTest, startScriptedServer } from '../testing/scripted-server.ts';
import { createKubeClient } from './http-client.ts';

const one = { kind: 'ConfigMap', metadata: { namespace: 'ns', name: 'one' } };
const ref = { namespace: 'ns', name: 'one' };

describe('transport TLS', () => {
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

  test('transport trusts the given CA and sends the client certificate', async () => {
    expect(await connect({ ca: caCert, clientCert, clientKey })).toMatchObject(one);
  });

  test('transport refuses the server without the CA', async () => {
    await expect(connect({ clientCert, clientKey })).rejects.toThrow(/certificate/);
  });

  test('transport uses HTTP/1.1 even if the server prefers HTTP/2', async () => {
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

  test('transport limits connecting to the request timeout', async () => {
    const server = await startScriptedServer((_, response) => answer(response, 200, one), tls);
    let connections = 0;
    const mute = createServer((near) => {
      // The first handshake is never answered.
      if (connections++ === 0) return;
      const far = connectTo(Number(new URL(server.url).port), '127.0.0.1');
      near.pipe(far).pipe(near);
      near.on('error', () => far.destroy());
      far.on('error', () => near.destroy());
    });
    mute.listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const { port } = mute.address() as AddressInfo;
    const access = { server: `https://127.0.0.1:${port}`, ca: caCert, clientCert, clientKey };
    const client = createKubeClient(access, { clock: systemClock, timeoutMs: 500, connections: 1 });
    disposeAfterTest(client, server);
    const answers: string[] = [];
    // Far fewer attempts than possible within the ten-second connect timeout.
    for (let tries = 0; tries < 6 && answers.at(-1) !== 'one'; tries++) {
      const created = client.create(configMaps, { metadata: ref });
      answers.push(await created.then(({ metadata }) => metadata.name, String));
    }
    mute.close();
    expect(answers[0]).toContain('no answer within 500 ms');
    expect(answers.at(-1)).toBe('one');
  });

  test('transport refuses a server certificate with another name', async () => {
    const access = { ca: caCert, clientCert, clientKey, tlsServerName: 'api.example.com' };
    await expect(connect(access)).rejects.toThrow(/api.example.com/);
  });

  test('a server requiring a client certificate refuses a connection without one', async () => {
    await expect(connect({ ca: caCert })).rejects.toMatchObject({ reason: 'Unreachable' });
  });
});
