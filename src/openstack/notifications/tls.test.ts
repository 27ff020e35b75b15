import { once } from 'node:events';
import { type AddressInfo } from 'node:net';
import { createServer, type TlsOptions } from 'node:tls';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { testCertificate, testKey } from '../../requests/test-certificate.ts';
import type { TlsOptions as Trust } from '../../requests/transport.ts';
import { systemClock } from '../../time/clock.ts';
import { listenByAmqp } from './connection.ts';

// TLS peer that reads the protocol header, then closes the connection.
let sniNames: string[];
let received: string[];
let options: TlsOptions;

beforeEach(() => {
  sniNames = [];
  received = [];
  options = {
    cert: testCertificate,
    key: testKey,
    SNICallback: (name, done) => {
      sniNames.push(name);
      done(null);
    },
  };
});

const cleanUp: (() => void)[] = [];
afterEach(() => {
  for (const one of cleanUp.splice(0)) one();
});

async function listenTo(host: string, tls: Trust): Promise<unknown> {
  const server = createServer(options, (socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (bytes: Buffer) => {
      received.push(bytes.toString('latin1', 0, 4));
      socket.end();
    });
  });
  cleanUp.push(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = { host, port: (server.address() as AddressInfo).port, tls: true };
  const login = { address, username: 'u', password: 'p', virtualHost: '/', isTrusted: true, tls };
  const deaf = { onBound: () => undefined, onMessage: () => undefined };
  const { signal } = new AbortController();
  return listenByAmqp(systemClock)(login, deaf, signal).catch((error: unknown) => error);
}

it('a broker with an untrusted certificate receives no bytes', async () => {
  expect(await listenTo('127.0.0.1', {})).toMatchObject({ kind: 'certificate' });
  expect(received).toEqual([]);
});

it('a trusted certificate for another name is refused', async () => {
  const failure = await listenTo('localhost', { ca: testCertificate });
  expect(failure).toMatchObject({ kind: 'certificate' });
  expect(received).toEqual([]);
});

it.each([{ ca: testCertificate }, { insecure: true }])(
  'a broker with a trusted certificate, or with verification disabled, receives the AMQP header',
  async (trust) => {
    expect(await listenTo('127.0.0.1', trust)).toMatchObject({ kind: 'unreachable' });
    expect(received).toEqual(['AMQP']);
  },
);

it("SNI contains the broker's host name and never an address", async () => {
  await listenTo('localhost', { insecure: true });
  await listenTo('127.0.0.1', { insecure: true });
  expect(received).toHaveLength(2);
  expect(sniNames).toEqual(['localhost']);
});
