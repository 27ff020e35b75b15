import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen } from '../../../src/http/server.ts';
import { tokenInFile } from '../../../src/operator/clusters/deliver/token-source.ts';
import { createViolas, type Violas } from '../../../src/operator/clusters/deliver/violas.ts';
import { anOwner, noRecords } from '../../../src/operator/testing/no-records.ts';
import { createLogger } from '../../../src/process/log.ts';
import { type CaBundle, openCaBundle } from '../../../src/requests/ca-bundle.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { expired, good, otherCa, otherHost, violaCa } from '../../fixtures/certificates.ts';
import { ViolaFixture } from '../../fixtures/viola.ts';

const certificates = { good, expired, elsewhere: otherHost };
type Shown = keyof typeof certificates;

interface Server {
  readonly bed: ViolaFixture;
  readonly url: string;
  /** Requests that reached Viola, with any credentials. */
  requests: number;
}

const servers = new Map<Shown, Server>();
const stop = new AbortController();
let directory = '';
let tokenFile = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'viola-tls-'));
  tokenFile = join(directory, 'token');
  await writeFile(tokenFile, 'rw\n');
  for (const shown of Object.keys(certificates) as Shown[]) {
    const bed = await ViolaFixture.start({ tls: certificates[shown] });
    const { url } = await listen(bed.app, { host: '127.0.0.1', port: 0 }, stop.signal);
    const server = { bed, url, requests: 0 };
    bed.app.server.on('request', () => {
      server.requests += 1;
    });
    servers.set(shown, server);
  }
});

afterAll(async () => {
  stop.abort(new Error('done'));
  for (const { bed } of servers.values()) await bed[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

function serverOf(shown: Shown): Server {
  const server = servers.get(shown);
  if (!server) throw new Error(`no Viola shows the certificate ${shown}`);
  return server;
}

/** Asks a Viola for its nodes as the operator does. */
async function ask(url: string, trust: { readonly ca?: string; readonly insecure?: boolean }) {
  await using violas = violasThat({ ...trust, ca: async () => Promise.resolve(trust.ca) });
  return await list(violas, url);
}

function violasThat(trust: { readonly ca: CaBundle; readonly insecure?: boolean }): Violas {
  const settings = {
    violaTimeout: 10_000,
    violaInsecureTls: trust.insecure ?? false,
    token: tokenInFile(tokenFile),
    authorities: trust.ca,
  };
  const log = createLogger({ part: 'test', level: 'silent' });
  return createViolas(settings, { clock: systemClock, random: () => 0.5, log, records: noRecords });
}

async function list(violas: Violas, url: string) {
  const endpoint = {
    field: 'spec.settings.violaEndpoint',
    url,
    trusted: true,
    compatibility: 'native',
  } as const;
  const query = { fresh: true, source: { namespace: 'n', name: 'osc' }, instanceIds: [] };
  const viola = await violas.of(endpoint, 'biz-1', anOwner);
  return viola.list(query, stop.signal);
}

describe('operator and Viola with TLS', () => {
  it('the operator reaches Viola when the CA is configured', async () => {
    expect(await ask(serverOf('good').url, { ca: violaCa })).toEqual({
      nodes: [],
      unreadable: [],
    });
  });

  it.each([
    ['from an unconfigured CA', 'good', undefined, /not signed by a trusted CA/],
    ['from a different CA', 'good', otherCa, /not signed by a trusted CA/],
    ['expired', 'expired', violaCa, /CERT_HAS_EXPIRED|expired/],
    ['for a different host', 'elsewhere', violaCa, /ALTNAME_INVALID|another (host|name)/],
  ] as const)(
    "the operator sends no token when Viola's certificate is %s",
    async (_, shown, ca, why) => {
      const server = serverOf(shown);
      const before = server.requests;
      await expect(ask(server.url, ca === undefined ? {} : { ca })).rejects.toThrow(why);
      expect(server.requests).toBe(before);
    },
  );

  it('talk again when the authority is replaced in its file, with no restart', async () => {
    const file = join(directory, 'ca.pem');
    await writeFile(file, otherCa);
    const log = createLogger({ part: 'test', level: 'silent' });
    await using violas = violasThat({ ca: await openCaBundle(file, log) });
    const { url } = serverOf('good');
    await expect(list(violas, url)).rejects.toThrow(/not signed by a trusted CA/);
    await writeFile(file, violaCa);
    expect(await list(violas, url)).toEqual({ nodes: [], unreadable: [] });
    // A reader may see a partial file.
    await writeFile(file, violaCa.slice(0, 100));
    expect(await list(violas, url)).toEqual({ nodes: [], unreadable: [] });
  });

  it('the operator reaches Viola with any certificate when verification is disabled', async () => {
    for (const shown of ['expired', 'elsewhere'] as const) {
      expect(await ask(serverOf(shown).url, { insecure: true })).toEqual({
        nodes: [],
        unreadable: [],
      });
    }
  });

  it('the operator refuses plain HTTP', async () => {
    const server = serverOf('good');
    const before = server.requests;
    const plain = server.url.replace('https:', 'http:');
    await expect(ask(plain, { ca: violaCa })).rejects.toThrow();
    expect(server.requests).toBe(before);
  });
});
