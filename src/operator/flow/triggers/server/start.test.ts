import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { about } from '../../../../../test/fixtures/about.ts';
import { good } from '../../../../../test/fixtures/certificates.ts';
import { shownCertificate } from '../../../../../test/fixtures/shown-certificate.ts';
import type { Effect } from '../../../../api/effects.ts';
import { metricTable } from '../../../../api/metrics.ts';
import type { KubeClient } from '../../../../kube/client/client.ts';
import { createPerform } from '../../../../process/effects.ts';
import { createHealth, type Health } from '../../../../process/health.ts';
import { createLogger } from '../../../../process/log.ts';
import { createMetrics } from '../../../../process/metrics.ts';
import { readSettings } from '../../../../process/settings.ts';
import { systemClock, systemRandom } from '../../../../time/clock.ts';
import { triggerSettings } from '../../../model/settings/triggers.ts';
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

/** Starts the server with these settings; returns the URL, or undefined when the server does not listen. */
async function start(env: Readonly<Record<string, string>>): Promise<string | undefined> {
  const serves = Promise.withResolvers<void>();
  const destination = {
    write: (line: string) => {
      lines.push(line);
      if (line.includes('trigger endpoint started')) serves.resolve();
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
  it('the trigger server does not listen without token file and key file', async () => {
    stop.abort(new Error('stop'));
    expect(await start({})).toBeUndefined();
  });

  it('the trigger server serves callers with a token until its signal aborts', async () => {
    const sha256 = createHash('sha256').update('w').digest('hex');
    const grants = JSON.stringify([{ name: 'w', sha256, providers: ['*'], verbs: ['write'] }]);
    const url = await start({ API_TOKENS_FILE: await file('tokens.yaml', grants) });
    const headers = { authorization: 'Bearer w' };
    const call = async () => fetch(`${url}${path}`, { method: 'POST', headers });
    expect((await call()).status).toBe(202);
    const text = await metrics.registry.metrics();
    expect(text).toContain('multinic_token_file_usable{server="trigger"} 1');
    expect(text).toMatch(
      /multinic_http_requests_total\{server="trigger",method="POST",route="[^"]+",status="202"\} 1/,
    );
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: object };
    expect(Object.keys(document.paths)).toEqual([
      '/v1/triggers/openstackconfigs/{namespace}/{name}',
    ]);
    stop.abort(new Error('stop'));
    await expect(call()).rejects.toThrow();
  });

  it('readiness fails while the trigger token file is unusable', async () => {
    const tokens = await file('tokens.yaml', '[]');
    await start({ API_TOKENS_FILE: tokens });
    expect(health.readiness().ok).toBe(true);
    await rm(tokens);
    await expect
      .poll(() => health.readiness().failing['trigger-tokens'])
      .toContain(`token file ${tokens} cannot be used`);
  });

  it.each([
    ['', 'must have a key of at least 16 characters on each line'],
    ['0123456789abcdef\nshort\n', 'must have a key of at least 16 characters on each line'],
  ])('the trigger server does not start with keys %j', async (text, message) => {
    const keys = await file('keys', text);
    await expect(start({ TRIGGER_HMAC_KEY_FILE: keys })).rejects.toThrow(`${keys} ${message}`);
  });

  it('the trigger server does not start without the key file', async () => {
    const keys = join(directory, 'keys');
    await expect(start({ TRIGGER_HMAC_KEY_FILE: keys })).rejects.toThrow(keys);
  });

  it('the trigger server requires TLS or --trigger-plain-http on a non-loopback address', async () => {
    const keys = await file('keys', '0123456789abcdef');
    const open = { TRIGGER_HMAC_KEY_FILE: keys, TRIGGER_ADDR: ':0' };
    await expect(start(open)).rejects.toThrow(
      'is not loopback: give --api-tls-cert and --api-tls-key, or set --api-plain-http true',
    );
    expect(await start({ ...open, API_PLAIN_HTTP: 'true' })).toContain('http://');
  });

  it('the trigger server serves TLS with the configured certificate', async () => {
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
