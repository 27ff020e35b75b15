import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { about } from '../../test/fixtures/about.ts';
import { good, renewed } from '../../test/fixtures/certificates.ts';
import { lookingOften, shownCertificate } from '../../test/fixtures/shown-certificate.ts';
import { postedNode as node, reader, ViolaFixture } from '../../test/fixtures/viola.ts';
import { metricTable } from '../api/metrics.ts';
import { clustersPath, nodeConfigsPath } from '../api/node-configs-http.ts';
import { createHealth } from '../process/health.ts';
import { createLogger } from '../process/log.ts';
import { createMetrics } from '../process/metrics.ts';
import { readSettings, SettingsError } from '../process/settings.ts';
import { type Clock, systemClock, systemRandom } from '../time/clock.ts';
import { violaSettings } from './settings.ts';
import { startViola } from './start.ts';

let bed: ViolaFixture;
const lines: string[] = [];

beforeAll(async () => {
  bed = await ViolaFixture.start();
});

afterAll(() => bed[Symbol.asyncDispose]());

async function start(
  flags: Readonly<Record<string, string>>,
  signal: AbortSignal,
  clock: Clock = systemClock,
) {
  const kubeconfig = await bed.api.kubeconfig(bed.api.accessAs(reader));
  const all = { kubeconfig, 'tokens-file': bed.tokensFile, ...flags };
  const url = Promise.withResolvers<string>();
  const write = (line: string): void => {
    lines.push(line);
    const entry = JSON.parse(line) as { msg: string; url?: string };
    if (entry.msg === 'viola started' && entry.url) url.resolve(entry.url);
  };
  const done = startViola(
    readSettings(violaSettings, { env: {}, flags: all }),
    {
      clock,
      random: systemRandom,
      log: createLogger({
        part: 'viola',
        level: 'debug',
        destination: { write },
      }),
      metrics: createMetrics(metricTable),
      health: createHealth(),
      about,
      exit: () => undefined,
    },
    signal,
  );
  return { done, url: url.promise };
}

describe('startViola', () => {
  it('Viola serves until the signal aborts, and logs neither tokens nor bodies', async () => {
    const stop = new AbortController();
    const { done, url } = await start({ listen: '127.0.0.1:0' }, stop.signal);
    const at = await Promise.race([url, done.then(() => 'ended')]);
    // Before readiness the registered clusters are unknown.
    const ready = async () => (await fetch(`${at}/readyz`)).status;
    await expect.poll(ready).toBe(200);
    const answer = await fetch(`${at}${nodeConfigsPath}`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer rw',
        'x-provider-id': 'biz-1',
        'content-type': 'application/json',
      },
      body: JSON.stringify([node]),
    });
    expect(answer.status).toBe(200);
    expect(await (await fetch(`${at}/metrics`)).text()).toContain(
      'multinic_http_requests_total{server="viola",method="POST"',
    );
    stop.abort(new Error('stop'));
    await done;
    await expect(fetch(`${at}/healthz`)).rejects.toThrow();
    expect(lines.join('')).not.toMatch(/Bearer|10\.0\.0\.10/);
  });

  it('missing rights in a cluster are listed, and Viola stays ready', async () => {
    const nobody = bed.api.accessAs('system:serviceaccount:multinic-system:nobody');
    await bed.register('biz-9', await bed.api.kubeconfig(nobody));
    const stop = new AbortController();
    const { done, url } = await start({ listen: '127.0.0.1:0' }, stop.signal);
    const at = await url;
    await expect.poll(async () => (await fetch(`${at}/readyz`)).status).toBe(200);
    const headers = { authorization: 'Bearer rw' };
    const answer = await fetch(`${at}${clustersPath}`, { headers });
    const all = ['get', 'list', 'create', 'patch', 'delete'].join(', ');
    expect(await answer.json()).toMatchObject({
      items: [
        { providerId: 'biz-1', reachable: true, rights: { missing: [] } },
        {
          providerId: 'biz-9',
          reachable: true,
          rights: { missing: [`${all} multinicnodeconfigs.multinic.io in multinic-system`] },
        },
      ],
    });
    expect((await fetch(`${at}/readyz`)).status).toBe(200);
    expect(await (await fetch(`${at}/metrics`)).text()).toContain(
      'multinic_cluster_rights_missing{provider="biz-9"} 1',
    );
    stop.abort(new Error('stop'));
    await done;
  });

  it('Viola answers NotReady until the registered clusters are known', async () => {
    const stop = new AbortController();
    bed.api.faults.answer({
      verb: 'list',
      resource: 'secrets',
      status: 503,
      times: 99,
    });
    const { done, url } = await start({ listen: '127.0.0.1:0' }, stop.signal);
    const headers = { authorization: 'Bearer rw', 'x-provider-id': 'biz-1' };
    const answer = await fetch(`${await url}${nodeConfigsPath}/worker-1`, {
      headers,
    });
    expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'NotReady' }]);
    bed.api.faults.clear();
    stop.abort(new Error('stop'));
    await done;
  });

  it('Viola serves TLS and reloads renewed certificate files', async () => {
    const stop = new AbortController();
    const directory = await mkdtemp(join(tmpdir(), 'viola-tls-'));
    const [cert, key] = [join(directory, 'tls.crt'), join(directory, 'tls.key')];
    await writeFile(cert, good.cert);
    await writeFile(key, good.key);
    const flags = { listen: '127.0.0.1:0', 'tls-cert': cert, 'tls-key': key };
    const { done, url } = await start(flags, stop.signal, lookingOften);
    const at = await url;
    expect(at).toMatch(/^https:/);
    const port = Number(new URL(at).port);
    expect(await shownCertificate(port)).toBe('good');
    await writeFile(cert, renewed.cert);
    await writeFile(key, renewed.key);
    await expect.poll(() => shownCertificate(port)).toBe('renewed');
    stop.abort(new Error('stop'));
    await done;
    await rm(directory, { recursive: true });
  });

  it('Viola refuses plain HTTP beyond loopback without --plain-http', async () => {
    const never = new AbortController().signal;
    const { done } = await start({ listen: '0.0.0.0:0' }, never);
    await expect(done).rejects.toThrow('--tls-cert and --tls-key');
  });

  it('Viola does not start with an unusable token file', async () => {
    const never = new AbortController().signal;
    const missing = await start({ 'tokens-file': '/nowhere', listen: '127.0.0.1:0' }, never);
    await expect(missing.done).rejects.toThrow('/nowhere');
    const notYaml = join(import.meta.dirname, 'start.ts');
    const bad = await start({ 'tokens-file': notYaml, listen: '127.0.0.1:0' }, never);
    await expect(bad.done).rejects.toThrow();
  });
});

it('an error names every invalid setting', () => {
  const flags = { listen: 'here', 'cluster-timeout': 'soon', 'plain-http': 'maybe' };
  const read = () => readSettings(violaSettings, { env: {}, flags });
  expect(read).toThrow(SettingsError);
  for (const name of [
    '--listen',
    '--cluster-timeout',
    '--plain-http',
    '--tokens-file or VIOLA_TOKENS_FILE',
  ]) {
    expect(read).toThrow(name);
  }
});
