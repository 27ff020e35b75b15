import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTriggerFixture } from '../../../../../test/fixtures/triggers.ts';
import { listen } from '../../../../http/server.ts';
import type { KubeClient } from '../../../../kube/client/client.ts';
import { KubeError } from '../../../../kube/errors.ts';
import { keyOf, type ObjectRef } from '../../../../kube/object.ts';
import { createFakeClock, type FakeClock, until } from '../../../../time/fake-clock.ts';
import { longestBody } from './routes.ts';
import { UsedSignatures } from './used-signatures.ts';

const key = '0123456789abcdef';
const path = '/v1/triggers/openstackconfigs/multinic-system/osc';

let clock: FakeClock;
let stop: AbortController;
let keys: () => Promise<readonly string[]>;
/** Patches received by the API server: `namespace/name`, field manager and annotation value. */
let writes: { key: string; manager: string | undefined; id: string }[];
let patch: KubeClient['patch'];

beforeEach(() => {
  clock = createFakeClock(new Date('2026-01-01T00:00:00Z'));
  stop = new AbortController();
  writes = [];
  keys = async () => [key, 'fedcba9876543210'];
  patch = (async (_resource: unknown, ref: ObjectRef, body: unknown, options: object) => {
    const { metadata } = body as { metadata: { annotations: Record<string, string> } };
    const { fieldManager } = options as { fieldManager?: string };
    expect(Object.keys(metadata)).toEqual(['annotations']);
    const id = metadata.annotations['multinic.io/reconcile-at'] ?? '';
    writes.push({ key: keyOf({ metadata: ref }), manager: fieldManager, id });
    return {};
  }) as unknown as KubeClient['patch'];
});

afterEach(() => stop.abort(new Error('done')));

/** Starts a replica's trigger endpoint. */
async function replica({ signing = true, granting = true, namespaces = [] as string[] } = {}) {
  const fixture = await openTriggerFixture({
    patch: (async (...all: Parameters<typeof patch>) => patch(...all)) as never,
    keys: signing ? keys : undefined,
    tokens: granting,
    allowedNamespaces: namespaces,
    clock,
    lifetime: stop.signal,
  });
  const { url } = await listen(fixture.app, { host: '127.0.0.1', port: 0 }, stop.signal);
  return { ...fixture, url };
}

async function call(url: string, headers: Record<string, string>, body?: string, to = path) {
  const answer = await fetch(`${url}${to}`, {
    method: 'POST',
    headers,
    ...(body === undefined ? {} : { body }),
  });
  const json = (await answer.json()) as { id: string; code: string; detail: string };
  return { ...json, status: answer.status, retry: answer.headers.get('retry-after') };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

function signed(change: { timestamp?: string; body?: string; to?: string; by?: string } = {}) {
  const { timestamp = '1767225600', body = '', to = path, by = key } = change;
  const hmac = createHmac('sha256', by).update(`${timestamp}\nPOST\n${to}\n${body}`);
  return {
    'x-multinic-timestamp': timestamp,
    'x-multinic-signature': `sha256=${hmac.digest('hex')}`,
  };
}

describe('a trigger call with a token', () => {
  it("a call with a token annotates the OpenstackConfig and returns the annotation's value", async () => {
    const { url, effects } = await replica();
    const { status, id, ...rest } = await call(url, bearer('rw'));
    expect([status, rest]).toEqual([
      202,
      expect.objectContaining({ namespace: 'multinic-system', name: 'osc' }),
    ]);
    expect(id).toMatch(/^2026-01-01T00:00:00Z-[0-9a-f]{16}$/);
    expect(writes).toEqual([{ key: 'multinic-system/osc', manager: 'multinic-trigger', id }]);
    expect(effects).toEqual(['before operator.trigger.write', 'after operator.trigger.write']);
  });

  it.each([
    ['no token', {}, 401, 'TokenRequired'],
    ['unknown token', bearer('guess'), 401, 'TokenUnknown'],
    ['read-only token', bearer('ro'), 403, 'VerbDenied'],
    ['token for another provider', bearer('w'), 403, 'ProviderDenied'],
  ])('a call is refused: %s', async (_who, headers, status, code) => {
    const { url } = await replica();
    expect(await call(url, headers as Record<string, string>)).toMatchObject({ status, code });
    expect(writes).toEqual([]);
  });

  it('a call may have any body up to the size limit', async () => {
    const { url } = await replica();
    const headers = { ...bearer('rw'), 'content-type': 'text/x-alert' };
    expect(await call(url, headers, '{not JSON')).toMatchObject({ status: 202 });
    const long = 'x'.repeat(longestBody + 1);
    expect(await call(url, headers, long)).toMatchObject({ status: 413, code: 'BodyTooLarge' });
  });

  it.each(['UPPER/osc', 'ns/-osc', 'ns/%2e%2e', 'ns/..%2fsecrets', `ns/${'a'.repeat(254)}`])(
    'a call for %s is refused without an API request',
    async (name) => {
      const { url } = await replica();
      const to = `/v1/triggers/openstackconfigs/${name}`;
      const { status } = await call(url, bearer('rw'), undefined, to);
      expect([400, 404]).toContain(status);
      expect(writes).toEqual([]);
    },
  );

  it.each([
    [404, 'NotFound', 404, 'NoSuchConfig'],
    [403, 'Forbidden', 403, 'NamespaceDenied'],
    [500, 'InternalError', 503, 'ClusterUnavailable'],
    [0, 'Unreachable', 503, 'ClusterUnavailable'],
  ])('API server answer %s %s gives the caller %s %s', async (of, reason, status, code) => {
    patch = async () => Promise.reject(new KubeError({ status: of, reason, message: 'no' }));
    const { url } = await replica();
    expect(await call(url, bearer('rw'))).toMatchObject({ status, code });
  });

  it("a call for a namespace outside the operator's namespaces is refused and writes nothing", async () => {
    const { url } = await replica({ namespaces: ['another'] });
    const answer = { status: 403, code: 'NamespaceDenied' };
    expect(await call(url, bearer('rw'))).toMatchObject(answer);
    expect(await call(url, signed())).toMatchObject(answer);
    expect(writes).toEqual([]);
    const served = await replica({ namespaces: ['another', 'multinic-system'] });
    expect(await call(served.url, bearer('rw'))).toMatchObject({ status: 202 });
  });

  it('a call is answered in time when the API server hangs', async () => {
    patch = async () => Promise.withResolvers<never>().promise;
    const { url } = await replica();
    const calling = call(url, bearer('rw'));
    await until('the call is in work', () => clock.waits.includes(60_000));
    await clock.advance(60_000);
    expect(await calling).toMatchObject({ status: 503, code: 'DeadlineReached' });
  });
});

/** Starts `count` calls for one OpenstackConfig, all waiting for their answers. */
async function inWork(count: number, url: string) {
  const before = clock.waits.filter((ms) => ms > 30_000).length;
  const calls = Array.from({ length: count }, async () => call(url, bearer('rw')));
  const waiting = () => clock.waits.filter((ms) => ms > 30_000).length - before;
  await until('all calls are in work', () => waiting() === count);
  return calls;
}

describe('trigger calls for one OpenstackConfig', () => {
  it('calls within a second share a write that begins after all these calls', async () => {
    const { url, requests } = await replica();
    const first = await call(url, bearer('rw'));
    // The sync for the first call may be over by now.
    const later = await inWork(3, url);
    await clock.advance(999);
    expect(writes.map(({ id }) => id)).toEqual([first.id]);
    await clock.advance(1);
    const ids = new Set((await Promise.all(later)).map(({ id }) => id));
    expect(writes.map(({ id }) => id)).toEqual([first.id, ...ids]);
    expect(ids.size).toBe(1);
    await clock.advance(1_000);
    expect(requests.size).toBe(0);
    expect((await call(url, bearer('rw'))).status).toBe(202);
  });

  it("calls during a hanging write share the next write, which begins after the hanging write's end", async () => {
    const hung = Promise.withResolvers<void>();
    const works = patch;
    patch = (async (...all: Parameters<typeof patch>) => {
      await hung.promise;
      return works(...all);
    }) as never;
    const { url, effects } = await replica();
    const calls = await inWork(4, url);
    await clock.advance(5_000);
    expect(effects).toEqual(['before operator.trigger.write']);
    hung.resolve();
    const ids = new Set((await Promise.all(calls)).map(({ id }) => id));
    expect(ids.size).toBe(2);
    expect(writes.map(({ id }) => id)).toEqual([...ids]);
  });

  it('a failed write is retried for later calls, once a second', async () => {
    const works = patch;
    let tries = 0;
    patch = async () => {
      tries += 1;
      throw new KubeError({ status: 500, reason: 'InternalError', message: 'no' });
    };
    const { url } = await replica();
    expect((await call(url, bearer('rw'))).status).toBe(503);
    const later = await inWork(3, url);
    expect(tries).toBe(1);
    patch = works;
    await clock.advance(1_000);
    expect((await Promise.all(later)).map(({ status }) => status)).toEqual([202, 202, 202]);
    expect(writes).toHaveLength(1);
  });

  it('calls for two OpenstackConfigs cause two writes', async () => {
    const { url } = await replica();
    await call(url, bearer('rw'));
    await call(url, bearer('rw'), undefined, path.replace('osc', 'other'));
    expect(writes.map((write) => write.key)).toEqual([
      'multinic-system/osc',
      'multinic-system/other',
    ]);
  });
});

describe('a flood of trigger calls', () => {
  it('10,000 calls cause one write per OpenstackConfig and second, and calls beyond 32 get 429', async () => {
    const { app, requests } = await replica();
    const answers: { statusCode: number; headers: { readonly 'retry-after'?: unknown } }[] = [];
    for (let second = 0; second < 2; second++) {
      const calls = Array.from({ length: 5_000 }, async (_, n) => {
        const url = n % 2 === 0 ? path : path.replace('osc', 'other');
        return app.inject({ method: 'POST', url, headers: bearer('rw') });
      });
      const answered = Promise.all(calls);
      await until('32 of them are in work', () => requests.size === 2);
      await clock.advance(1_000);
      answers.push(...(await answered));
      await clock.advance(1_000);
    }
    const refused = answers.filter(({ statusCode }) => statusCode !== 202);
    expect(answers.length - refused.length).toBeGreaterThanOrEqual(2 * 32);
    expect(
      new Set(refused.map((one) => `${one.statusCode} ${String(one.headers['retry-after'])}`)),
    ).toEqual(new Set(['429 1']));
    expect(writes.length).toBeLessThanOrEqual(2 * 4);
    expect(requests.size).toBe(0);
  });

  it('calls for more than 100 OpenstackConfigs within a second get 429', async () => {
    const { app, requests } = await replica();
    const callFor = async (n: number) => {
      const url = path.replace('osc', `osc-${n}`);
      return (await app.inject({ method: 'POST', url, headers: bearer('rw') })).statusCode;
    };
    const answers: number[] = [];
    for (let n = 0; n < 200; n++) answers.push(await callFor(n));
    expect(answers.filter((status) => status === 202)).toHaveLength(100);
    expect(answers.slice(100).every((status) => status === 429)).toBe(true);
    expect(requests.size).toBe(100);
    await clock.advance(1_000);
    expect(requests.size).toBe(0);
    expect(await callFor(200)).toBe(202);
  });

  it('used signatures are stored up to 10,000', async () => {
    const used = new UsedSignatures(clock);
    for (let n = 0; n < 10_000; n++) used.use(`${n}`);
    expect(() => used.use('more')).toThrow('10000 signed requests came within ten minutes');
    expect(used.size).toBe(10_000);
    await clock.advance(600_001);
    used.use('more');
    expect(used.size).toBe(1);
  });
});

describe('a signed trigger call', () => {
  // Made with: printf '1767225600\nPOST\n…/osc\n{"a":1}' | openssl dgst -sha256 -hmac 0123456789abcdef
  const example = {
    'x-multinic-timestamp': '1767225600',
    'x-multinic-signature':
      'sha256=ebbfd7544626a9b44c696423ce4b85b8b722be42722cfbe2fdf6616992aa6af1',
  };

  it('a call signed by openssl is admitted', async () => {
    const { url } = await replica();
    const answer = await call(url, example, '{"a":1}');
    expect(answer).toMatchObject({ status: 202, namespace: 'multinic-system', name: 'osc' });
    expect(writes.map(({ id }) => id)).toEqual([answer.id]);
  });

  it('a call may be signed with any key in the key file', async () => {
    const { url } = await replica();
    expect(await call(url, signed({ by: 'fedcba9876543210' }))).toMatchObject({ status: 202 });
  });

  it.each([
    ['another key', signed({ by: 'another key that is long' }), ''],
    ['another body', signed({ body: '{"a":2}' }), '{"a":1}'],
    ['another path', signed({ to: path.replace('osc', 'other') }), ''],
    ['another time', { ...signed(), 'x-multinic-timestamp': '1767225601' }, ''],
    ['301 s old', signed({ timestamp: '1767225299' }), ''],
    ['301 s ahead', signed({ timestamp: '1767225901' }), ''],
    ['no timestamp', { 'x-multinic-signature': signed()['x-multinic-signature'] }, ''],
    ['invalid timestamp', signed({ timestamp: 'now' }), ''],
    ['too short', { ...signed(), 'x-multinic-signature': 'sha256=00' }, ''],
    ['MD5', { ...signed(), 'x-multinic-signature': 'md5=00' }, ''],
  ])('a signature is refused: %s', async (_what, headers, body) => {
    const { url, used } = await replica();
    const answer = await call(url, headers, body);
    expect(answer).toMatchObject({ status: 401, code: 'SignatureRefused' });
    expect([writes, used.size]).toEqual([[], 0]);
  });

  it('a malformed signature is refused before the body is read', async () => {
    const { url } = await replica();
    const headers = { ...signed(), 'x-multinic-signature': 'sha256=00' };
    const long = 'x'.repeat(longestBody + 1);
    expect(await call(url, headers, long)).toMatchObject({ status: 401, code: 'SignatureRefused' });
  });

  it.each(['1767225300', '1767225900', '1767225600.25'])(
    "timestamp %s is accepted, at most 300 s from the server's clock",
    async (timestamp) => {
      const { url } = await replica();
      expect(await call(url, signed({ timestamp }))).toMatchObject({ status: 202 });
    },
  );

  it('a replayed call is refused as long as its timestamp is accepted', async () => {
    const { url } = await replica();
    const late = signed({ timestamp: '1767225900' });
    await call(url, late);
    for (const ms of [0, 300_000, 300_000]) {
      await clock.advance(ms);
      const { status, detail } = await call(url, late);
      expect([status, detail]).toEqual([401, expect.stringContaining('was used before')]);
    }
    await clock.advance(1_000);
    expect((await call(url, late)).detail).toContain('away from the clock of this server');
    expect(writes).toHaveLength(1);
  });

  it.each([500, 404])(
    'a signed call may be repeated unchanged after the API server answered %s',
    async (of) => {
      const good = patch;
      patch = async () =>
        Promise.reject(new KubeError({ status: of, reason: 'No', message: 'no' }));
      const { url } = await replica();
      expect([404, 503]).toContain((await call(url, signed())).status);
      patch = good;
      await clock.advance(1_000);
      expect(await call(url, signed())).toMatchObject({ status: 202 });
      expect(await call(url, signed())).toMatchObject({ status: 401 });
    },
  );

  it('a call replayed at another replica writes the same value again', async () => {
    const [one, two] = [await replica(), await replica()];
    await call(one.url, signed());
    await clock.advance(5_000);
    await call(two.url, signed());
    expect(new Set(writes.map(({ id }) => id)).size).toBe(1);
  });

  it('a signed call gets 503 while the keys are unreadable, and new keys need no restart', async () => {
    const held = { keys: async (): Promise<string[]> => Promise.reject(new Error('gone')) };
    keys = async () => held.keys();
    const { url } = await replica();
    const answer = await call(url, signed());
    expect(answer).toMatchObject({ status: 503, code: 'KeysUnavailable', retry: '5' });
    held.keys = async () => ['a key of tomorrow'];
    expect(await call(url, signed())).toMatchObject({ status: 401 });
    expect(await call(url, signed({ by: 'a key of tomorrow' }))).toMatchObject({ status: 202 });
  });

  it('signatures are refused without a key file, and tokens without a token file', async () => {
    const tokensOnly = await replica({ signing: false });
    expect(await call(tokensOnly.url, signed())).toMatchObject({ code: 'TokenRequired' });
    const signingOnly = await replica({ granting: false });
    expect(await call(signingOnly.url, bearer('rw'))).toMatchObject({ code: 'SignatureRefused' });
  });
});
