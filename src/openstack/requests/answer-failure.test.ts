import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { answerOf } from '../../requests/fake-caller.ts';
import { answerFailure, isNotFoundByService, jsonOf, parseAs } from './answer-failure.ts';

const request = {
  service: 'neutron',
  method: 'GET',
  url: new URL('http://neutron:9696/v2.0/ports?device_id=a'),
} as const;
const now = new Date('2026-01-01T00:00:00Z');

function failure(id: string): Error {
  const body = { computeFault: { code: 500, message: `failed (req-${id})` } };
  return answerFailure(
    request,
    answerOf(500, body, { 'x-openstack-request-id': `req-${id}` }),
    now,
  );
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
  ])('answerFailure maps status %i to kind %s', (status, kind) => {
    expect(answerFailure(request, answerOf(status, {}), now)).toMatchObject({ kind, status });
  });

  test("answerFailure quotes each service's error text and omits the query", () => {
    const bodies = [
      { NeutronError: { type: 'PortNotFound', message: 'Port x.', detail: '' } },
      { error: { code: 401, title: 'Unauthorized', message: 'Authenticate.' } },
      { itemNotFound: { code: 404, message: 'Instance x.' } },
      {},
    ];
    const messages = bodies.map((body) => answerFailure(request, answerOf(404, body), now).message);
    expect(messages).toEqual([
      'neutron: GET /v2.0/ports answered 404 (PortNotFound: Port x.)',
      'neutron: GET /v2.0/ports answered 404 (Authenticate.)',
      'neutron: GET /v2.0/ports answered 404 (itemNotFound: Instance x.)',
      'neutron: GET /v2.0/ports answered 404',
    ]);
  });

  test('equal failures have equal messages: request ids are replaced', () => {
    const [first, second] = [crypto.randomUUID(), crypto.randomUUID()];
    expect(failure(first).message).toBe(failure(second).message);
    expect(failure(first)).toMatchObject({ requestId: `req-${first}` });
  });

  test('answerFailure omits HTML bodies and truncates long texts', () => {
    const html = { status: 502, headers: {}, text: '<html>Bad Gateway</html>' };
    expect(answerFailure(request, html, now).message).toBe('neutron: GET /v2.0/ports answered 502');
    const long = answerOf(500, { error: { message: 'x'.repeat(5_000) } });
    expect(answerFailure(request, long, now).message.length).toBeLessThan(300);
  });

  test.each([
    ['7', 7_000],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['soon', undefined],
  ])('answerFailure parses Retry-After %s', (value, retryAfterMs) => {
    const answer = answerOf(503, {}, { 'retry-after': value });
    expect(answerFailure(request, answer, now).retryAfterMs).toBe(retryAfterMs);
  });
});

describe('isNotFoundByService', () => {
  test.each([
    ['Neutron', 404, { NeutronError: { type: 'PortNotFound', message: '' } }, true],
    ['Nova', 404, { itemNotFound: { code: 404, message: '' } }, true],
    ['Neutron hiding a resource by policy', 404, { NeutronError: { type: 'HTTPNotFound' } }, false],
    [
      'Neutron about an unacceptable request',
      404,
      { NeutronError: { type: 'HTTPNotAcceptable' } },
      false,
    ],
    ['a proxy', 404, { message: 'no such route' }, false],
    ['a service with status 200', 200, { itemNotFound: { code: 404, message: '' } }, false],
  ])('isNotFoundByService classifies a 404 from %s', (_, status, body, says) => {
    expect(isNotFoundByService(answerOf(status, body))).toBe(says);
  });

  test('isNotFoundByService is false for an HTML page', () => {
    expect(isNotFoundByService({ status: 404, headers: {}, text: '<h1>Not Found</h1>' })).toBe(
      false,
    );
  });
});

describe('parsing', () => {
  test('jsonOf throws badAnswer for HTML', () => {
    const answer = { status: 200, headers: {}, text: '<html>' };
    expect(() => jsonOf('nova', 'GET /servers', answer)).toThrow('the answer is not JSON');
  });

  test('parseAs throws badAnswer naming the first wrong field', () => {
    const schema = z.object({ ports: z.array(z.object({ id: z.string() })) });
    const data = { ports: [{ id: 'a' }, { id: 1 }] };
    expect(() => parseAs(schema, 'neutron', 'GET /v2.0/ports', data)).toThrow(/at ports\.1\.id/);
  });
});
