import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { about } from '../../../../test/fixtures/about.ts';
import { good } from '../../../../test/fixtures/certificates.ts';
import { shownCertificate } from '../../../../test/fixtures/shown-certificate.ts';
import type { Effect } from '../../../api/effects.ts';
import { metricTable } from '../../../api/metrics.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { createPerform } from '../../../process/effects.ts';
import { createHealth, type Health } from '../../../process/health.ts';
import { createLogger } from '../../../process/log.ts';
import { createMetrics } from '../../../process/metrics.ts';
import { readSettings } from '../../../process/settings.ts';
import { systemClock, systemRandom } from '../../../time/clock.ts';
import { triggerSettings } from '../settings.ts';
import { startTriggerServer } from './start.ts';

let directory: string;
let stop: AbortController;
let health: Health;
let lines: string[];
const metrics = createMetrics(metricTable);
const patch = (async () => ({})) as unknown as KubeClient['patch'];
const perform = createPerform<Effect>(() => undefined);
const cluster = { client: { patch }, perform, allowedNamespaces: [] };
const path = '/v1/triggers/openstackconfigs/ns/osc';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'triggers-'));
  stop = new AbortController();
  health = createHealth();
  lines = [];
});

afterEach(async () => {
  stop.abort(new Error('done'));
  await rm(directory, { recursive: true });
});

/** Starts with these settings; answers where it serves, undefined = it does not. */
async function start(env: Readonly<Record<string, string>>): Promise<string | undefined> {
  const serves = Promise.withResolvers<void>();
  const destination = {
    write: (line: string) => {
      lines.push(line);
      if (line.includes('triggers are served')) serves.resolve();
    },
  };
  const context = {
    clock: systemClock,
    random: systemRandom,
    log: createLogger({ part: 'test', level: 'info', destination }),
    metrics,
    health,
    about,
    exit: () => undefined,
  };
  const all = { TRIGGER_ADDR: '127.0.0.1:0', ...env };
  const settings = readSettings(triggerSettings, { env: all, flags: {} });
  const running = startTriggerServer(settings, cluster, context, stop.signal);
  await Promise.race([running, serves.promise]);
  const line = lines.find((one) => one.includes('"url"')) ?? '{}';
  return (JSON.parse(line) as { url?: string }).url;
}

async function file(name: string, text: string): Promise<string> {
  await writeFile(join(directory, name), text);
  return join(directory, name);
}

describe('startTriggerServer', () => {
  it('listens to nobody while nothing says who may call', async () => {
    stop.abort(new Error('stop'));
    expect(await start({})).toBeUndefined();
  });

  it('serves who has a token, until it is told to stop', async () => {
    const sha256 = createHash('sha256').update('w').digest('hex');
    const grants = JSON.stringify([{ name: 'w', sha256, providers: ['*'], verbs: ['write'] }]);
    const url = await start({ API_TOKENS_FILE: await file('tokens.yaml', grants) });
    const headers = { authorization: 'Bearer w' };
    const call = async () => fetch(`${url}${path}`, { method: 'POST', headers });
    expect((await call()).status).toBe(202);
    const said = await metrics.registry.metrics();
    expect(said).toContain('multinic_token_file_usable{server="trigger"} 1');
    expect(said).toMatch(
      /multinic_http_requests_total\{server="trigger",method="POST",route="[^"]+",status="202"\} 1/,
    );
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: object };
    expect(Object.keys(document.paths)).toEqual([
      '/v1/triggers/openstackconfigs/{namespace}/{name}',
    ]);
    stop.abort(new Error('stop'));
    await expect(call()).rejects.toThrow();
  });

  it('is not ready while its token file cannot be used', async () => {
    const tokens = await file('tokens.yaml', '[]');
    await start({ API_TOKENS_FILE: tokens });
    expect(health.readiness().ok).toBe(true);
    await rm(tokens);
    await expect
      .poll(() => health.readiness().failing['trigger-tokens'])
      .toContain(`token file ${tokens} cannot be used`);
  });

  it.each([
    ['', 'must hold a key of 16 characters or more on each line'],
    ['0123456789abcdef\nshort\n', 'must hold a key of 16 characters or more on each line'],
  ])('does not start with keys %j', async (text, message) => {
    const keys = await file('keys', text);
    await expect(start({ TRIGGER_HMAC_KEY_FILE: keys })).rejects.toThrow(`${keys} ${message}`);
  });

  it('does not start without the file of keys', async () => {
    const keys = join(directory, 'keys');
    await expect(start({ TRIGGER_HMAC_KEY_FILE: keys })).rejects.toThrow(keys);
  });

  it('wants TLS, or somebody’s word, on an address that others reach', async () => {
    const keys = await file('keys', '0123456789abcdef');
    const open = { TRIGGER_HMAC_KEY_FILE: keys, TRIGGER_ADDR: ':0' };
    await expect(start(open)).rejects.toThrow(
      'is not loopback: give --api-tls-cert and --api-tls-key, or say --api-plain-http true',
    );
    expect(await start({ ...open, API_PLAIN_HTTP: 'true' })).toContain('http://');
  });

  it('serves by TLS with the certificate of its files', async () => {
    const url = await start({
      TRIGGER_ADDR: ':0',
      TRIGGER_HMAC_KEY_FILE: await file('keys', '0123456789abcdef'),
      API_TLS_CERT: await file('tls.crt', good.cert),
      API_TLS_KEY: await file('tls.key', good.key),
    });
    expect(await shownCertificate(Number(new URL(url ?? '').port))).toBe('good');
    expect(lines.join()).not.toContain('0123456789abcdef');
  });
});
