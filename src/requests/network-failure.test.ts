import { describe, expect, test } from 'vitest';
import { DeadlineReached } from '../time/deadline.ts';
import { networkFailure } from './network-failure.ts';

const request = {
  service: 'nova',
  method: 'GET',
  url: new URL('https://nova.example:8774/v2.1/servers?limit=5'),
  tls: {},
  timeoutMs: 10_000,
} as const;

function refused(port: number): Error {
  const text = `connect ECONNREFUSED 10.0.0.1:8774 from 10.0.0.2:${port}`;
  return Object.assign(new Error(text), { code: 'ECONNREFUSED' });
}

describe('networkFailure', () => {
  test('networkFailure names the target without query, with equal text for every ephemeral port', () => {
    const [first, second] = [40_001, 40_002].map((port) => networkFailure(request, refused(port)));
    expect(first?.message).toBe(
      'nova: GET https://nova.example:8774/v2.1/servers: connection refused',
    );
    expect(second?.message).toBe(first?.message);
    expect(first?.kind).toBe('unreachable');
  });

  test.each([
    ['ECONNRESET', 'closed before the answer was complete'],
    ['UND_ERR_SOCKET', 'closed before the answer was complete'],
    ['ENOTFOUND', 'host name does not resolve'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'give the CA bundle'],
    ['CERT_HAS_EXPIRED', 'expired'],
    ['EWHATEVER', 'the request failed (EWHATEVER)'],
  ])('networkFailure explains %s', (code, words) => {
    expect(networkFailure(request, Object.assign(new Error('x'), { code })).message).toContain(
      words,
    );
  });

  test('networkFailure uses the first cause in an AggregateError', () => {
    const inner = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
    const failure = networkFailure(request, new AggregateError([inner, inner]));
    expect(failure.message).toContain('connection refused');
  });

  test('networkFailure reports a missed deadline as timeout', () => {
    const failure = networkFailure(request, new DeadlineReached(10_000));
    expect(failure).toMatchObject({
      kind: 'timeout',
      message: expect.stringContaining('10 s') as unknown,
    });
  });
});
