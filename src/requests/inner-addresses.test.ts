import type { LookupAddress } from 'node:dns';
import { createServer } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { systemClock } from '../time/clock.ts';
import { innerKindOf, lookupOutside } from './inner-addresses.ts';
import { createTransport, type TransportOptions } from './transport.ts';

describe('innerKindOf', () => {
  it.each([
    ['127.0.0.1', 'a loopback address'],
    ['127.255.255.254', 'a loopback address'],
    ['::1', 'a loopback address'],
    ['[::1]', 'a loopback address'],
    ['::ffff:127.0.0.1', 'a loopback address'],
    ['[::ffff:7f00:1]', 'a loopback address'],
    ['::127.0.0.1', 'a loopback address'],
    ['64:ff9b::7f00:1', 'a loopback address'],
    ['0.0.0.0', 'an unspecified address'],
    ['0.1.2.3', 'an unspecified address'],
    ['::', 'an unspecified address'],
    ['::ffff:0.0.0.0', 'an unspecified address'],
    ['169.254.169.254', 'a link-local address'],
    ['::ffff:a9fe:a9fe', 'a link-local address'],
    ['64:ff9b::169.254.169.254', 'a link-local address'],
    ['fe80::1', 'a link-local address'],
    ['fe80::1%eth0', 'a link-local address'],
    ['febf::1', 'a link-local address'],
    ['fd00:ec2::254', 'the metadata service of a cloud'],
  ])('innerKindOf classifies %s', (host, kind) => {
    expect(innerKindOf(host)).toBe(kind);
  });

  it.each([
    ['126.255.255.255'],
    ['128.0.0.0'],
    ['169.253.255.255'],
    ['169.255.0.0'],
    ['10.0.0.1'],
    ['1.0.0.0'],
    ['::2:0:1'],
    ['2001:db8::1'],
    ['::ffff:10.0.0.1'],
    ['64:ff9b::a00:1'],
    ['fec0::1'],
    ['fd00:ec2::253'],
    ['localhost'],
    ['127.0.0.1.example.com'],
  ])('innerKindOf accepts %s', (host) => {
    expect(innerKindOf(host)).toBeUndefined();
  });
});

const lookup = async (found: string | LookupAddress[]): Promise<unknown> => {
  const resolve: LookupFunction = (_name, _options, callback) => callback(null, found, 4);
  return new Promise((done) => {
    lookupOutside(resolve)('a.test', { all: true }, (error, address) => done(error ?? address));
  });
};

describe('lookupOutside', () => {
  it('lookupOutside refuses a name when any resolved address is an inner address', async () => {
    const good = { address: '10.0.0.1', family: 4 };
    const bad = { address: '::1', family: 6 };
    expect(await lookup([good])).toEqual([good]);
    expect(String(await lookup([good, bad]))).toContain(
      'the host resolves to ::1, a loopback address',
    );
    expect(await lookup('10.0.0.1')).toBe('10.0.0.1');
    expect(String(await lookup('169.254.169.254'))).toContain('a link-local address');
  });

  it('lookupOutside passes on lookup errors', async () => {
    const unknown = Object.assign(new Error('no such host'), { code: 'ENOTFOUND' });
    const resolve: LookupFunction = (_name, _options, callback) => callback(unknown, []);
    const failure = await new Promise((done) => {
      lookupOutside(resolve)('a.test', {}, (error) => done(error));
    });
    expect(failure).toBe(unknown);
  });
});

const proxyOf = () => ({ origin: 'http://127.0.0.1:1', authorization: undefined });
const isTrusted = ({ hostname }: URL) => hostname === 'localhost';

async function ask(host: string, options: Partial<TransportOptions> = {}) {
  let connections = 0;
  const server = createServer((_, response) => response.end('{}'));
  server.on('connection', () => {
    connections += 1;
  });
  // Listens on IPv4 and IPv6: a missing connection must not be due to a missing listener.
  await new Promise<void>((resolve) => server.listen(0, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = new URL(`http://${host}:${port}/v3`);
  await using transport = createTransport({
    clock: systemClock,
    isTrusted: () => false,
    ...options,
  });
  const request = {
    service: 'keystone',
    method: 'GET',
    url,
    tls: {},
    timeoutMs: 10_000,
  } as const;
  let result: string;
  try {
    result = String((await transport.send(request, AbortSignal.timeout(60_000))).status);
  } catch (error) {
    result = `${(error as { kind?: string }).kind} ${String(error)}`.replace(`:${port}`, '');
  }
  return { result, connections };
}

describe('transport without trusted origins', () => {
  test('a request to a name resolving to loopback is refused without a connection', async () => {
    const { result, connections } = await ask('localhost');
    expect(result).toMatch(
      /^denied RequestError: keystone: GET http:\/\/localhost\/v3: the host resolves to (127\.0\.0\.1|::1), a loopback address, and not in the operator's ALLOWED_ENDPOINTS$/,
    );
    expect(connections).toBe(0);
  });

  test('a request to a loopback address is refused without a connection', async () => {
    const { result, connections } = await ask('127.0.0.1');
    expect(result).toContain(
      'denied RequestError: keystone: GET http://127.0.0.1/v3: the host is a loop',
    );
    expect(connections).toBe(0);
  });

  test('a request to a link-local address is refused even with a proxy', async () => {
    expect((await ask('169.254.169.254', { proxyOf })).result).toContain('denied RequestError');
  });

  test('only requests to trusted origins reach inner addresses', async () => {
    expect((await ask('localhost', { isTrusted })).result).toBe('200');
    expect((await ask('127.0.0.1', { isTrusted })).connections).toBe(0);
  });
});
