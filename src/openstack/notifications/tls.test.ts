import { once } from 'node:events';
import { type AddressInfo } from 'node:net';
import { createServer, type TlsOptions } from 'node:tls';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { testCertificate, testKey } from '../../requests/test-certificate.ts';
import type { TlsOptions as Trust } from '../../requests/transport.ts';
import { systemClock } from '../../time/clock.ts';
import { listenByAmqp } from './connection.ts';

// A peer that takes the protocol header, and hangs up.
let named: string[];
let heard: string[];
let options: TlsOptions;

beforeEach(() => {
  named = [];
  heard = [];
  options = {
    cert: testCertificate,
    key: testKey,
    SNICallback: (name, done) => {
      named.push(name);
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
      heard.push(bytes.toString('latin1', 0, 4));
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

it('a broker whose certificate nobody vouches for hears nothing', async () => {
  expect(await listenTo('127.0.0.1', {})).toMatchObject({ kind: 'certificate' });
  expect(heard).toEqual([]);
});

it('a certificate of another name is none, whoever vouches for it', async () => {
  const failure = await listenTo('localhost', { ca: testCertificate });
  expect(failure).toMatchObject({ kind: 'certificate' });
  expect(heard).toEqual([]);
});

it.each([{ ca: testCertificate }, { insecure: true }])(
  'a broker that is vouched for, or need not be, hears us',
  async (trust) => {
    expect(await listenTo('127.0.0.1', trust)).toMatchObject({ kind: 'unreachable' });
    expect(heard).toEqual(['AMQP']);
  },
);

it('a broker is told the name that it is called by, and never an address', async () => {
  await listenTo('localhost', { insecure: true });
  await listenTo('127.0.0.1', { insecure: true });
  expect(heard).toHaveLength(2);
  expect(named).toEqual(['localhost']);
});
