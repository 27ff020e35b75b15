import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ExistingNodeConfig } from '../../../api/node-configs-http.ts';
import { createLogger } from '../../../process/log.ts';
import { systemAuthorities } from '../../../requests/ca-bundle.ts';
import { systemClock } from '../../../time/clock.ts';
import { createFakeClock } from '../../../time/fake-clock.ts';
import { anOwner, noRecords } from '../../testing/no-records.ts';
import { tokenInFile } from './token-source.ts';
import type { ViolaClient } from './viola-client.ts';
import { createViolas, type Violas } from './violas.ts';

interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

type Answer = readonly [status: number, body: unknown, headers?: Record<string, string>];

const { signal } = new AbortController();
let received: ReceivedRequest[];
let answers: (Answer | 'hang' | 'cut')[];
let server: Server;
let violas: Violas;
let viola: ViolaClient;
let directory: string;
let tokenFile: string;
const clock = createFakeClock();
const log = createLogger({ part: 'test', level: 'silent' });

async function connect(endpoint: string): Promise<void> {
  const settings = { violaTimeout: 5_000, violaInsecureTls: false, authorities: systemAuthorities };
  const own = { ...settings, token: tokenInFile(tokenFile) };
  violas = createViolas(own, { clock, random: () => 0.5, log, records: noRecords });
  const compatibility = 'native';
  const place = { field: 'VIOLA_ENDPOINT', url: endpoint, trusted: true, compatibility } as const;
  viola = await violas.of(place, 'biz-1', anOwner);
}

beforeEach(async () => {
  received = [];
  answers = [];
  directory = await mkdtemp(join(tmpdir(), 'multinic-viola-client-'));
  tokenFile = join(directory, 'token');
  await writeFile(tokenFile, 'first\n');
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      received.push({ method, url, headers, body });
      const answer = answers.shift() ?? [500, { detail: 'no answer was prepared' }];
      if (answer === 'hang') return;
      if (answer === 'cut') response.destroy();
      else response.writeHead(answer[0], answer[2]).end(JSON.stringify(answer[1]));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`);
});

afterEach(async () => {
  await violas[Symbol.asyncDispose]();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(directory, { recursive: true });
});

function node(nodeName: string): ExistingNodeConfig {
  return { nodeName, uid: `uid-${nodeName}`, generation: 1, spec: { nodeName } };
}

function problem(status: number, code: string, detail = 'why'): Answer {
  return [status, { type: 'about:blank', title: 'x', status, code, detail }];
}

const observedAt = '2026-01-01T00:00:00Z';

const query = {
  fresh: false,
  source: { namespace: 'n', name: 'osc' },
  instanceIds: ['i1', 'i2'],
};

const tagged = (name: string, tag: string, next: string): Answer => [
  200,
  { items: [node(name)], observedAt, ...(next ? { continue: next } : {}) },
  { etag: tag, 'x-continue': next },
];
const same = (next: string): Answer => [304, undefined, { 'x-continue': next }];
const names = async (of = query) => (await viola.list(of, signal)).nodes;
const conditions = () =>
  received.map(({ url, headers }) => [
    new URL(url, 'http://viola').searchParams.get('continue') ?? '',
    headers['if-none-match'] ?? '',
  ]);

describe('ViolaClient.list', () => {
  it('list returns only requested nodes and parses no foreign node', async () => {
    const source = { ...query.source, uid: 'u', generation: 1 };
    const other = { ...source, name: 'other' };
    const of = (name: string, from?: typeof source, instanceId?: string) => ({
      ...node(name),
      ...(from ? { source: from } : {}),
      spec: { nodeName: name, ...(instanceId ? { instanceId } : {}) },
    });
    const wanted = [
      of('own', source, 'i9'),
      of('of nobody'),
      of('selected too', other, 'I1'),
      of('of no server', other),
    ];
    const foreign = { ...of('foreign', other, 'i9'), generation: 'not a number' };
    answers = [[200, { items: [foreign, ...wanted], observedAt }]];
    expect((await viola.list(query, signal)).nodes).toEqual(wanted);
  });

  it('list reports unreadable objects separately from nodes', async () => {
    const unreadable = [{ objectName: 'b', uid: 'u', generation: 1, message: 'spec: broken' }];
    answers = [[200, { items: [node('a')], unreadable, observedAt }]];
    expect(await viola.list(query, signal)).toEqual({ nodes: [node('a')], unreadable });
  });

  it('list follows every page, with provider id and token in each request', async () => {
    answers = [
      [200, { items: [node('a')], observedAt, continue: 'next one' }],
      [200, { items: [node('b')], observedAt }],
    ];
    const { nodes } = await viola.list({ ...query, fresh: true }, signal);
    expect(nodes.map(({ nodeName }) => nodeName)).toEqual(['a', 'b']);
    expect(received.map(({ url }) => url)).toEqual([
      '/base/v1/k8s/multinic/node-configs?limit=200&fresh=true&source=n%2Fosc&instanceId=i1&instanceId=i2',
      '/base/v1/k8s/multinic/node-configs?limit=200&fresh=true&source=n%2Fosc&instanceId=i1&instanceId=i2&continue=next+one',
    ]);
    expect(received[0]?.headers).toMatchObject({
      'x-provider-id': 'biz-1',
      authorization: 'Bearer first',
    });
  });

  describe('a repeated list', () => {
    let first: readonly ExistingNodeConfig[];

    beforeEach(async () => {
      answers = [tagged('a', 'W/"1"', 't1'), tagged('b', 'W/"2"', '')];
      first = await names();
      received = [];
    });

    it('a repeated list reuses pages answered with 304 and follows the new continue token', async () => {
      answers = [same('t2'), same('')];
      const again = await names({ ...query, fresh: true });
      expect(again.map((one, at) => one === first[at])).toEqual([true, true]);
      expect(conditions()).toEqual([
        ['', 'W/"1"'],
        ['t2', 'W/"2"'],
      ]);
    });

    it('a repeated list parses only the changed page', async () => {
      answers = [same('t2'), tagged('c', 'W/"3"', '')];
      expect(await names()).toEqual([node('a'), node('c')]);
      answers = [same('t3'), same('')];
      expect(await names()).toEqual([node('a'), node('c')]);
      expect(conditions().at(-1)).toEqual(['t3', 'W/"3"']);
    });

    it("a repeated list follows Viola's pages when the list becomes shorter or longer", async () => {
      answers = [same('')];
      expect(await names()).toEqual([node('a')]);
      answers = [same('t3'), same('t4'), tagged('d', 'W/"4"', '')];
      expect(await names()).toEqual([node('a'), node('b'), node('d')]);
    });

    it('a repeated list reads a page without If-None-Match when a 304 lacks the continue header', async () => {
      answers = [[304, undefined], tagged('e', 'W/"5"', '')];
      expect(await names()).toEqual([node('e')]);
      expect(conditions()).toEqual([
        ['', 'W/"1"'],
        ['', ''],
      ]);
    });

    it.each([
      ['other servers', { instanceIds: ['i1'] }],
      ['another OpenstackConfig', { source: { namespace: 'n', name: 'other' } }],
    ])('a list for %s sends no If-None-Match', async (_, change) => {
      answers = [tagged('f', 'W/"6"', '')];
      expect(await names({ ...query, ...change })).toHaveLength(1);
      expect(conditions()).toEqual([['', '']]);
    });

    it.each([
      ['not after a list for other servers', { instanceIds: ['i1'] }, ''],
      ['not after a list for as many other servers', { instanceIds: ['i2', 'i3'] }, ''],
      [
        'after a list for another OpenstackConfig',
        { source: { namespace: 'n', name: 'other' } },
        'W/"1"',
      ],
      ['after a fresh list', { fresh: true }, 'W/"1"'],
    ])('a repeated list sends the last ETag: %s', async (_, change, tag) => {
      answers = [tagged('a', 'W/"1"', '')];
      await names({ ...query, ...change });
      received = [];
      answers = [tagged('a', 'W/"1"', '')];
      await names();
      expect(conditions()).toEqual([['', tag]]);
    });

    it('a list sends no If-None-Match after an answer without ETag', async () => {
      const plain: Answer = [200, { items: [node('g')], observedAt }];
      answers = [plain, plain];
      await names();
      await names();
      expect(conditions()).toEqual([
        ['', 'W/"1"'],
        ['', ''],
      ]);
    });
  });

  it('list restarts once when a continue token has expired', async () => {
    answers = [
      [200, { items: [node('a')], observedAt, continue: 'old' }],
      problem(400, 'ContinueExpired'),
      [200, { items: [node('a'), node('b')], observedAt }],
    ];
    expect((await viola.list(query, signal)).nodes).toHaveLength(2);
  });

  it('list fails when one page fails', async () => {
    answers = [
      [200, { items: [node('a')], observedAt, continue: 'next' }],
      problem(503, 'ClusterUnreachable', 'business cluster: down'),
    ];
    await expect(viola.list(query, signal)).rejects.toThrow(
      'viola: unexpected status 503: business cluster: down',
    );
  });

  it('list rejects an answer without items instead of returning no nodes', async () => {
    answers = [[200, { nodes: [] }]];
    await expect(viola.list(query, signal)).rejects.toThrow(
      'viola: the answer cannot be read (items:',
    );
  });
});

describe('ViolaClient.get', () => {
  it('get returns undefined for a missing node and throws for an unknown business cluster', async () => {
    answers = [problem(404, 'NoSuchNode'), problem(404, 'UnknownProvider', 'register it')];
    expect(await viola.get('a/b', signal)).toBeUndefined();
    expect(received[0]?.url).toBe('/base/v1/k8s/multinic/node-configs/a%2Fb');
    await expect(viola.get('a', signal)).rejects.toThrow('404: register it');
  });
});

describe('ViolaClient.post', () => {
  it('post requests results per node and reads results from a 409, too', async () => {
    const results = {
      applied: 0,
      results: [],
      errors: [{ nodeName: 'a', code: 'StaleBase', field: '', message: '' }],
    };
    answers = [[409, results]];
    expect(await viola.post([{ nodeName: 'a', base: null }], signal)).toEqual(results);
    expect(received[0]).toMatchObject({
      method: 'POST',
      body: '[{"nodeName":"a","base":null}]',
      headers: { prefer: 'multinic-results', 'content-type': 'application/json' },
    });
  });

  it.each([
    [401, "add the operator's token to a file of Viola's --tokens-file"],
    [403, "the operator's token has no right to this provider"],
    [
      405,
      'a legacy Viola supports no GET: for one, set spec.settings.violaCompatibility to legacy',
    ],
  ])('post explains a %i', async (status, advice) => {
    answers = [problem(status, 'Denied')];
    await expect(viola.post([], signal)).rejects.toThrow(advice);
  });

  it('post reports Retry-After as retryAfterMs', async () => {
    answers = [[429, {}, { 'retry-after': '7' }]];
    await expect(viola.post([], signal)).rejects.toMatchObject({
      status: 429,
      retryAfterMs: 7_000,
    });
  });
});

describe('ViolaClient.remove', () => {
  it('remove sends uid, generation, basis and reason, and returns leaving, gone or stale', async () => {
    const why = { basis: 'evidence', reason: 'server-gone' } as const;
    answers = [
      [202, { uid: 'u', generation: 3 }],
      problem(404, 'NoSuchNode'),
      problem(409, 'StaleBase'),
      problem(503, 'ClusterUnreachable'),
    ];
    const base = { uid: 'u', generation: 3 };
    expect(await viola.remove('a', base, why, signal)).toBe('leaving');
    expect(received[0]).toMatchObject({ method: 'DELETE' });
    expect(received[0]?.url).toContain('/a?uid=u&generation=3&basis=evidence&reason=server-gone');
    expect(await viola.remove('a', base, why, signal)).toBe('gone');
    expect(await viola.remove('a', null, why, signal)).toBe('stale');
    answers.unshift(problem(404, 'UnknownProvider', 'register it'));
    await expect(viola.remove('a', base, why, signal)).rejects.toThrow('404: register it');
    await expect(viola.remove('a', base, why, signal)).rejects.toThrow('503');
  });
});

describe('ViolaClient without a complete answer', () => {
  it("an unreachable Viola's error names no ephemeral port, so repeated messages are equal", async () => {
    answers = ['cut'];
    const { port } = server.address() as AddressInfo;
    await expect(viola.get('a', signal)).rejects.toMatchObject({
      kind: 'unreachable',
      message: `viola: GET http://127.0.0.1:${port}/base/v1/k8s/multinic/node-configs/a: the connection was closed before the answer was complete`,
    });
    await connect('http://127.0.0.1:1');
    await expect(viola.get('a', signal)).rejects.toThrow(
      'viola: GET http://127.0.0.1:1/v1/k8s/multinic/node-configs/a: connection refused',
    );
  });

  it('an answer beyond the size limit is cut off', async () => {
    const piece = JSON.stringify('x'.repeat(1024 * 1024));
    answers = [[200, { items: Array.from({ length: 70 }, () => piece) }]];
    await expect(viola.get('a', signal)).rejects.toThrow('the answer has more than');
  });

  it('a hanging request fails after the timeout', async () => {
    answers = ['hang'];
    const pending = viola.get('a', signal);
    const caught = expect(pending).rejects.toThrow('no answer within 5 s');
    while (received.length === 0) await systemClock.sleep(5);
    await clock.advance(5_000);
    await caught;
  });
});

describe("the operator's token for Viola", () => {
  it('the token file is read at each request', async () => {
    answers = [problem(404, 'NoSuchNode'), problem(404, 'NoSuchNode')];
    await viola.get('a', signal);
    await writeFile(tokenFile, 'second');
    await viola.get('a', signal);
    expect(received.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer first',
      'Bearer second',
    ]);
  });

  it('an unreadable token file fails the request before sending', async () => {
    await rm(tokenFile);
    await expect(viola.get('a', signal)).rejects.toThrow(
      '(VIOLA_TOKEN_FILE) cannot be read: ENOENT',
    );
    expect(received).toEqual([]);
  });
});

const check = async () => viola.check('a/b', { id: 'x', heal: true }, signal);
const dryRun = async () => viola.dryRun([{ nodeName: 'a' }], signal);
const noNodes = { applied: 0, results: [], errors: [] };
const base = '/base/v1/k8s/multinic/node-configs';
const checked = ['POST', `${base}/a%2Fb/check`, '{"id":"x","heal":true}'];
const validated = ['POST', `${base}/dry-run`, '[{"nodeName":"a"}]'];

it.each<[string, () => Promise<unknown>, string[], Answer, unknown]>([
  ['check', check, checked, [202, { uid: 'u', generation: 1 }], 'requested'],
  ['check', check, checked, problem(404, 'NoSuchNode'), 'gone'],
  ['check', check, checked, problem(404, 'NoSuchRoute'), 'unsupported'],
  ['dryRun', dryRun, validated, [200, noNodes], noNodes],
  ['dryRun', dryRun, validated, problem(404, 'NoSuchRoute'), undefined],
])('%s %#: the request goes to its own route, and its answer is understood', async (...row) => {
  const [, call, sent, answer, expected] = row;
  answers = [answer, problem(404, 'UnknownProvider')];
  expect(await call()).toEqual(expected);
  expect(received.map(({ method, url, body }) => [method, url, body])).toEqual([sent]);
  await expect(call()).rejects.toThrow('unexpected status 404');
});
