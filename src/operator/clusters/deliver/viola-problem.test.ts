import { expect, it } from 'vitest';
import { messageCodeOf } from '../../../api/message-codes.ts';
import type { HttpAnswer } from '../../../requests/transport.ts';
import { refusal } from './viola-answer.ts';
import { violaMessage } from './viola-problem.ts';

const now = new Date();

function answer(status: number, code?: string): HttpAnswer {
  const body = { type: 'about:blank', title: 'x', status, detail: 'why', requestId: 'r', code };
  const text = code === undefined ? '<html>proxy</html>' : JSON.stringify(body);
  return { status, headers: {}, text };
}

it.each([
  [404, 'UnknownProvider', 'ClusterNotRegistered'],
  [401, 'TokenUnknown', 'TokenRefused'],
  [401, 'TokenRequired', 'TokenRefused'],
  [403, 'ProviderDenied', 'TokenRefused'],
  [403, 'VerbDenied', 'TokenRefused'],
  [503, 'ClusterUnreachable', 'ClusterUnreachable'],
  [503, 'ClusterUnusable', 'ClusterUnreachable'],
  [503, 'NotReady', 'ViolaUnavailable'],
  [503, 'Unreadable', undefined],
  [502, undefined, 'ViolaUnavailable'],
  [429, undefined, 'ViolaUnavailable'],
  [401, undefined, undefined],
  [404, undefined, undefined],
  [400, 'toString', undefined],
])('an answer %i with problem code %s has the cause %s', (status, code, cause) => {
  expect(messageCodeOf(violaMessage(refusal(answer(status, code), now)))).toBe(cause);
});
