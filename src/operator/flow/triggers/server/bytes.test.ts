import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openTriggerFixture } from '../../../../../test/fixtures/triggers.ts';
import { signatureHeader, timestampHeader } from '../../../../api/trigger-http.ts';
import { listen } from '../../../../http/server.ts';
import type { KubeClient } from '../../../../kube/client/client.ts';
import { createFakeClock, type FakeClock } from '../../../../time/fake-clock.ts';

const key = '0123456789abcdef';
const path = '/v1/triggers/openstackconfigs/multinic-system/osc';
const timestamp = '1767225600';

let clock: FakeClock;
let stop: AbortController;
let url: string;
let writes: number;

beforeEach(async () => {
  clock = createFakeClock(new Date('2026-01-01T00:00:00Z'));
  stop = new AbortController();
  writes = 0;
  const patch = (async () => {
    writes += 1;
    return {};
  }) as unknown as KubeClient['patch'];
  const fixture = await openTriggerFixture({
    patch,
    keys: async () => [key],
    clock,
    lifetime: stop.signal,
  });
  ({ url } = await listen(fixture.app, { host: '127.0.0.1', port: 0 }, stop.signal));
});

afterEach(() => stop.abort(new Error('done')));

interface Sent {
  /** Signed bytes; also the sent body unless `body` is set. */
  readonly signed: string | Uint8Array;
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly path?: string;
}

/** Sends a signed call unchanged; `fetch` would correct the headers. */
async function send({ signed, body = signed, headers = {}, path: to = path }: Sent) {
  const head = `${timestamp}\nPOST\n${to}\n`;
  const hmac = createHmac('sha256', key).update(head).update(signed).digest('hex');
  const always = { [timestampHeader]: timestamp, [signatureHeader]: `sha256=${hmac}` };
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const call = request(`${url}${to}`, { method: 'POST', headers: { ...always, ...headers } });
  call.on('error', reject);
  call.on('response', (answer) => {
    void text(answer).then(() => resolve(answer.statusCode ?? 0), reject);
  });
  call.end(body);
  return promise;
}

const zipped = gzipSync('{"a":1}');
const chunked = { 'transfer-encoding': 'chunked' };

it.each<[string, Sent]>([
  ['without a length or a type', { signed: '{"a":1}', headers: chunked }],
  ['compressed', { signed: zipped, headers: { 'content-encoding': 'gzip' } }],
  ['not UTF-8', { signed: Uint8Array.of(0xff, 0xfe, 0) }],
  ['empty, with a content type', { signed: '', headers: { 'content-type': 'application/json' } }],
  ['invalid JSON', { signed: '{"a"', headers: { 'content-type': 'application/json' } }],
  ['for a path with a query', { signed: '', path: `${path}?from=alerts` }],
  ['for a path with escapes', { signed: '', path: path.replace('osc', '%6fsc') }],
])('a call signed over the sent bytes is admitted: %s', async (_what, sent) => {
  expect(await send(sent)).toBe(202);
  expect(writes).toBe(1);
});

it.each<[string, Sent]>([
  ['chunks outside the signature', { signed: '', body: '{"a":1}', headers: chunked }],
  [
    'signature over the uncompressed body',
    { signed: '{"a":1}', body: zipped, headers: { 'content-encoding': 'gzip' } },
  ],
  ['invalid content type', { signed: '', body: 'x', headers: { 'content-type': ';' } }],
  [
    'two signatures',
    { signed: '', headers: { [signatureHeader]: [`sha256=${'0'.repeat(64)}`, 'sha256='] } },
  ],
  ['two timestamps', { signed: '', headers: { [timestampHeader]: [timestamp, timestamp] } }],
  ['empty signature', { signed: '', headers: { [signatureHeader]: '' } }],
  [
    'signature in capitals',
    { signed: '', headers: { [signatureHeader]: `sha256=${'A'.repeat(64)}` } },
  ],
])('a call is refused: %s', async (_what, sent) => {
  expect([400, 401, 415]).toContain(await send(sent));
  expect(writes).toBe(0);
});
