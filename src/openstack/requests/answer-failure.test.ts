import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { answerOf } from '../../requests/fake-caller.ts';
import { answerFailure, isNotFoundByService, jsonOf, parseAs } from './answer-failure.ts';

const asked = {
  service: 'neutron',
  method: 'GET',
  url: new URL('http://neutron:9696/v2.0/ports?device_id=a'),
} as const;
const now = new Date('2026-01-01T00:00:00Z');

function failure(id: string): Error {
  const body = { computeFault: { code: 500, message: `failed (req-${id})` } };
  return answerFailure(asked, answerOf(500, body, { 'x-openstack-request-id': `req-${id}` }), now);
}

describe('answerFailure', () => {
  test.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'notFound'],
    [409, 'conflict'],
    [412, 'conflict'],
    [414, 'tooLarge'],
    [429, 'rateLimited'],
    [500, 'serverError'],
    [503, 'serverError'],
    [302, 'badAnswer'],
    [400, 'badAnswer'],
  ])('%i is %s', (status, kind) => {
    expect(answerFailure(asked, answerOf(status, {}), now)).toMatchObject({ kind, status });
  });

  test('quotes what each service says, without the query', () => {
    const bodies = [
      { NeutronError: { type: 'PortNotFound', message: 'Port x.', detail: '' } },
      { error: { code: 401, title: 'Unauthorized', message: 'Authenticate.' } },
      { itemNotFound: { code: 404, message: 'Instance x.' } },
      {},
    ];
    const messages = bodies.map((body) => answerFailure(asked, answerOf(404, body), now).message);
    expect(messages).toEqual([
      'neutron: GET /v2.0/ports answered 404 (PortNotFound: Port x.)',
      'neutron: GET /v2.0/ports answered 404 (Authenticate.)',
      'neutron: GET /v2.0/ports answered 404 (itemNotFound: Instance x.)',
      'neutron: GET /v2.0/ports answered 404',
    ]);
  });

  test('is the same text for the same failure: request ids stay out of it', () => {
    const [first, second] = [crypto.randomUUID(), crypto.randomUUID()];
    expect(failure(first).message).toBe(failure(second).message);
    expect(failure(first)).toMatchObject({ requestId: `req-${first}` });
  });

  test('does not quote a page of HTML, and cuts a long message', () => {
    const html = { status: 502, headers: {}, text: '<html>Bad Gateway</html>' };
    expect(answerFailure(asked, html, now).message).toBe('neutron: GET /v2.0/ports answered 502');
    const long = answerOf(500, { error: { message: 'x'.repeat(5_000) } });
    expect(answerFailure(asked, long, now).message.length).toBeLessThan(300);
  });

  test.each([
    ['7', 7_000],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['soon', undefined],
  ])('reads Retry-After %s', (value, retryAfterMs) => {
    const answer = answerOf(503, {}, { 'retry-after': value });
    expect(answerFailure(asked, answer, now).retryAfterMs).toBe(retryAfterMs);
  });
});

describe('saysNotFound', () => {
  test.each([
    ['Neutron', 404, { NeutronError: { type: 'PortNotFound', message: '' } }, true],
    ['Nova', 404, { itemNotFound: { code: 404, message: '' } }, true],
    ['Neutron whose policy hides it', 404, { NeutronError: { type: 'HTTPNotFound' } }, false],
    ['Neutron of something else', 404, { NeutronError: { type: 'HTTPNotAcceptable' } }, false],
    ['a proxy', 404, { message: 'no such route' }, false],
    ['a 200', 200, { itemNotFound: { code: 404, message: '' } }, false],
  ])('a 404 by %s', (_, status, body, says) => {
    expect(isNotFoundByService(answerOf(status, body))).toBe(says);
  });

  test('an HTML page proves nothing', () => {
    expect(isNotFoundByService({ status: 404, headers: {}, text: '<h1>Not Found</h1>' })).toBe(
      false,
    );
  });
});

describe('what comes in', () => {
  test('is badAnswer when it is not JSON', () => {
    const answer = { status: 200, headers: {}, text: '<html>' };
    expect(() => jsonOf('nova', 'GET /servers', answer)).toThrow('the answer is not JSON');
  });

  test('is badAnswer with the first wrong field named', () => {
    const schema = z.object({ ports: z.array(z.object({ id: z.string() })) });
    const data = { ports: [{ id: 'a' }, { id: 1 }] };
    expect(() => parseAs(schema, 'neutron', 'GET /v2.0/ports', data)).toThrow(/at ports\.1\.id/);
  });
});
