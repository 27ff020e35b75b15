import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { about } from '../../test/fixtures/about.ts';
import { good, renewed } from '../../test/fixtures/certificates.ts';
import { lookingOften, shownCertificate } from '../../test/fixtures/shown-certificate.ts';
import { metricTable } from '../api/metrics.ts';
import { createHealth } from '../process/health.ts';
import { createLogger } from '../process/log.ts';
import { createMetrics } from '../process/metrics.ts';
import { readSettings } from '../process/settings.ts';
import { PortNotes } from '../store/port-notes.ts';
import { type Clock, systemClock, systemRandom } from '../time/clock.ts';
import { inventorySettings } from './settings.ts';
import { startInventory } from './start.ts';

const source = {
  store: {
    list: async () => [],
    notesOf: async () => new PortNotes(),
    providers: async () => [],
    changes: async () => [],
    oldestChange: async () => undefined,
  },
  unavailable: () => undefined,
};

async function start(
  env: Readonly<Record<string, string>>,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<string[]> {
  const lines: string[] = [];
  const serves = Promise.withResolvers<void>();
  const destination = {
    write: (line: string) => {
      lines.push(line);
      if (line.includes('inventory serving')) serves.resolve();
    },
  };
  const context = {
    clock,
    random: systemRandom,
    log: createLogger({ part: 'test', level: 'info', destination }),
    metrics: createMetrics(metricTable),
    health: createHealth(),
    about,
    exit: () => undefined,
  };
  const running = startInventory(
    readSettings(inventorySettings, { env, flags: {} }),
    context,
    source,
    signal,
  );
  await Promise.race([running, serves.promise]);
  return lines;
}

function urlIn(lines: readonly string[]): string {
  return (
    JSON.parse(lines.find((line) => line.includes('"url"')) ?? '{}') as {
      url: string;
    }
  ).url;
}

describe('startInventory', () => {
  it('the inventory serves until the signal aborts', async () => {
    const stop = new AbortController();
    const url = urlIn(await start({ INVENTORY_ADDR: '127.0.0.1:0' }, stop.signal));
    const answer = await fetch(`${url}/v1/inventory/node-configs`);
    expect([answer.status, await answer.json()]).toEqual([200, []]);
    stop.abort(new Error('stop'));
    await expect(fetch(`${url}/healthz`).then(async () => 'answered')).rejects.toThrow();
  });

  it('the inventory does not serve when disabled', async () => {
    const stop = new AbortController();
    stop.abort(new Error('stop'));
    expect(await start({ INVENTORY_ENABLED: 'false' }, stop.signal)).toEqual([]);
  });

  it('a non-loopback address requires TLS or --inventory-plain-http', async () => {
    const { signal } = new AbortController();
    await expect(start({ INVENTORY_ADDR: ':0' }, signal)).rejects.toThrow(
      'is not loopback: give --api-tls-cert and --api-tls-key, or set --api-plain-http true',
    );
    const stop = new AbortController();
    const env = { INVENTORY_ADDR: ':0', API_PLAIN_HTTP: 'true' };
    expect(urlIn(await start(env, stop.signal))).toContain('http://');
    stop.abort(new Error('stop'));
  });

  it('the inventory serves TLS and reloads renewed certificate files', async () => {
    const stop = new AbortController();
    const directory = await mkdtemp(join(tmpdir(), 'inventory-tls-'));
    const [cert, key] = [join(directory, 'tls.crt'), join(directory, 'tls.key')];
    await writeFile(cert, good.cert);
    await writeFile(key, good.key);
    const tls = { API_TLS_CERT: cert, API_TLS_KEY: key };
    const env = { INVENTORY_ADDR: ':0', ...tls };
    const url = urlIn(await start(env, stop.signal, lookingOften));
    const port = Number(new URL(url).port);
    expect(await shownCertificate(port)).toBe('good');
    await writeFile(cert, renewed.cert);
    await writeFile(key, renewed.key);
    await expect.poll(() => shownCertificate(port)).toBe('renewed');
    stop.abort(new Error('stop'));
    await rm(directory, { recursive: true });
  });

  it('a port conflict is reported in one sentence', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    const { signal } = new AbortController();
    await expect(start({ INVENTORY_ADDR: `127.0.0.1:${port}` }, signal)).rejects.toThrow(
      `127.0.0.1:${port} is taken by another process`,
    );
    await new Promise((resolve) => other.close(resolve));
  });
});
