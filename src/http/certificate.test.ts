import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { about } from '../../test/beds/about.ts';
import { elsewhere, good, renewed } from '../../test/beds/certificates.ts';
import { shownCertificate } from '../../test/beds/shown-certificate.ts';
import { createHealth } from '../process/health.ts';
import { createLogger } from '../process/log.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import type { HttpServer } from './app.ts';
import {
  certificateFilesOf,
  certificateLookMs,
  followCertificate,
  readCertificate,
} from './certificate.ts';
import { createHttpServer, listen } from './server.ts';

let directory = '';
let files = { certFile: '', keyFile: '' };
let stop: AbortController;
let app: HttpServer | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tls-'));
  files = {
    certFile: join(directory, 'tls.crt'),
    keyFile: join(directory, 'tls.key'),
  };
  stop = new AbortController();
});

afterEach(async () => {
  stop.abort(new Error('done'));
  await app?.close();
  await rm(directory, { recursive: true });
});

async function put({ cert, key }: { readonly cert: string; readonly key: string }): Promise<void> {
  await writeFile(files.certFile, cert);
  await writeFile(files.keyFile, key);
}

describe('followCertificate', () => {
  it('shows a renewed certificate to new connections, and the last good one while there is none', async () => {
    await put(good);
    const clock = createFakeClock();
    const log = createLogger({ part: 'test', level: 'silent' });
    const tls = await readCertificate(files);
    const health = createHealth();
    app = await createHttpServer({
      title: 't',
      clock,
      log,
      health,
      about,
      registry: new Registry(),
      tls,
    });
    const { url } = await listen(app, { host: '127.0.0.1', port: 0 }, stop.signal);
    const port = Number(new URL(url).port);
    const following = followCertificate(app, files, { first: tls, clock, log }, stop.signal);
    await expect.poll(() => clock.waits.length).toBe(1);
    expect(await shownCertificate(port)).toBe('good');

    await writeFile(files.certFile, renewed.cert); // its key is still on the way
    await clock.advance(certificateLookMs);
    await expect.poll(() => clock.waits.length).toBe(1);
    expect(await shownCertificate(port)).toBe('good');

    await put(renewed);
    await clock.advance(certificateLookMs);
    await expect.poll(() => shownCertificate(port)).toBe('renewed');
    stop.abort(new Error('done'));
    await following;
  });
});

it('a certificate that is renewed while the server starts is taken into use too', async () => {
  await put(good);
  const clock = createFakeClock();
  const log = createLogger({ part: 'test', level: 'silent' });
  const first = await readCertificate(files);
  const options = { clock, log, health: createHealth(), about, registry: new Registry() };
  app = await createHttpServer({ title: 't', ...options, tls: first });
  const { url } = await listen(app, { host: '127.0.0.1', port: 0 }, stop.signal);
  await put(renewed);
  const following = followCertificate(app, files, { first, clock, log }, stop.signal);
  await expect.poll(() => clock.waits.length).toBe(1);
  await clock.advance(certificateLookMs);
  await expect
    .poll(() => shownCertificate(Number(new URL(url).port)), { timeout: 10_000 })
    .toBe('renewed');
  stop.abort(new Error('done'));
  await following;
});

describe('readCertificate', () => {
  it('refuses a key of another certificate', async () => {
    await put({ cert: good.cert, key: elsewhere.key });
    await expect(readCertificate(files)).rejects.toThrow(/key values mismatch/);
  });
});

describe('certificateFilesOf', () => {
  const settings = {
    certFile: undefined,
    keyFile: undefined,
    plainHttp: false,
  };
  const on = (host: string) => ({ ...settings, listen: { host, port: 1 } });

  it.each(['', '0.0.0.0', '::', '10.0.0.7', '127.evil.example'])(
    'wants TLS, or somebody’s word, on %s',
    (host) => {
      expect(() => certificateFilesOf(on(host))).toThrow('--tls-cert and --tls-key');
      expect(certificateFilesOf({ ...on(host), plainHttp: true })).toBeUndefined();
    },
  );

  it('lets this machine talk to itself without', () => {
    expect(certificateFilesOf(on('127.0.0.1'))).toBeUndefined();
    expect(certificateFilesOf(on('::1'))).toBeUndefined();
  });

  it('takes no certificate without its key for plain HTTP', () => {
    const half = { ...on('127.0.0.1'), certFile: 'a', prefix: 'inventory-' };
    expect(() => certificateFilesOf(half)).toThrow('--inventory-tls-key go together');
  });
});
