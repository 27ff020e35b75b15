import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { about } from '../../test/fixtures/about.ts';
import { good, otherHost, renewed } from '../../test/fixtures/certificates.ts';
import { shownCertificate } from '../../test/fixtures/shown-certificate.ts';
import { issueAuthority } from '../certificates/issue.ts';
import { createHealth } from '../process/health.ts';
import { createLogger } from '../process/log.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import type { HttpServer } from './app.ts';
import {
  type Certificate,
  certificateFilesOf,
  certificateRereadMs,
  endOf,
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
  it('followCertificate serves a renewed certificate to new connections, and keeps the last good one while the key is missing', async () => {
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

    await writeFile(files.certFile, renewed.cert); // the new key is still missing
    await clock.advance(certificateRereadMs);
    await expect.poll(() => clock.waits.length).toBe(1);
    expect(await shownCertificate(port)).toBe('good');

    await put(renewed);
    await clock.advance(certificateRereadMs);
    await expect.poll(() => shownCertificate(port)).toBe('renewed');
    stop.abort(new Error('done'));
    await following;
  });
});

it('followCertificate serves a certificate renewed during server start', async () => {
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
  await clock.advance(certificateRereadMs);
  await expect.poll(() => shownCertificate(Number(new URL(url).port))).toBe('renewed');
  stop.abort(new Error('done'));
  await following;
});

/** Returns a certificate expiring `days` days after the fake clock's start. */
function endingIn(days: number) {
  const until = new Date(Date.parse('2026-01-01T00:00:00Z') + days * 86_400_000);
  const { certificate: cert, key } = issueAuthority({ from: new Date(0), until });
  return { cert, key };
}

it('followCertificate logs once before and once after expiry, and reports every certificate in use', async () => {
  const first = endingIn(8);
  await put(first);
  let jumpMs = 0;
  const fake = createFakeClock();
  const clock = { ...fake, now: () => new Date(fake.now().getTime() + jumpMs) };
  const messages: string[] = [];
  const ends: string[] = [];
  const write = (line: string) => void messages.push((JSON.parse(line) as { msg: string }).msg);
  const log = createLogger({ part: 'test', level: 'info', destination: { write } });
  const options = { clock, log, health: createHealth(), about, registry: new Registry() };
  app = await createHttpServer({ title: 't', ...options, tls: first });
  const onUse = (used: Certificate) => void ends.push(endOf(used).toISOString().slice(0, 10));
  const following = followCertificate(app, files, { first, clock, log, onUse }, stop.signal);
  const wait = async (ms: number) => {
    await expect.poll(() => fake.waits.length).toBe(1);
    await clock.advance(ms);
    await expect.poll(() => fake.waits.length).toBe(1);
  };
  await wait(certificateRereadMs);
  expect(messages).toEqual([]);
  // A jumping clock: days pass without a wake-up per minute.
  for (const days of [1, 0, 7, 0]) {
    jumpMs += days * 86_400_000;
    await wait(certificateRereadMs);
  }
  expect(messages).toEqual([
    'certificate expires soon and is not renewed',
    'certificate expired: callers that verify it fail',
  ]);
  await put(endingIn(90));
  await wait(certificateRereadMs);
  expect(messages.at(-1)).toBe('renewed certificate in use');
  expect(ends).toEqual(['2026-01-09', '2026-04-01']);
  stop.abort(new Error('done'));
  await following;
});

describe('readCertificate', () => {
  it('readCertificate reports a missing file with the advice from madeBy', async () => {
    await expect(readCertificate(files)).rejects.toThrow(
      `${files.certFile} does not exist: create it`,
    );
    const made = readCertificate({ ...files, madeBy: 'ask Alice' });
    await expect(made).rejects.toThrow(`${files.certFile} does not exist: ask Alice`);
  });

  it.each([
    ['certificate', { cert: '', key: good.key }],
    ['key', { cert: good.cert, key: '' }],
  ])('readCertificate refuses an empty %s file, as during a write', async (_, pair) => {
    await put(pair);
    await expect(readCertificate(files)).rejects.toThrow();
  });

  it('readCertificate refuses a key from another certificate', async () => {
    await put({ cert: good.cert, key: otherHost.key });
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
    'certificateFilesOf requires TLS or plain-http on %s',
    (host) => {
      expect(() => certificateFilesOf(on(host))).toThrow('--tls-cert and --tls-key');
      expect(certificateFilesOf({ ...on(host), plainHttp: true })).toBeUndefined();
    },
  );

  it('certificateFilesOf allows plain HTTP on loopback', () => {
    expect(certificateFilesOf(on('127.0.0.1'))).toBeUndefined();
    expect(certificateFilesOf(on('::1'))).toBeUndefined();
  });

  it('certificateFilesOf refuses a certificate without a key', () => {
    const half = { ...on('127.0.0.1'), certFile: 'a', prefix: 'api-' };
    expect(() => certificateFilesOf(half)).toThrow(
      '--api-tls-key belong together: set both, or neither',
    );
  });
});
