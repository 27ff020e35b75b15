import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { HttpProblem } from './problem.ts';
import { authorize, type Grant } from './who-may.ts';

const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');
const list: Grant[] = [
  { name: 'operator', sha256: sha256('t-op'), providers: ['biz-1'], verbs: ['read', 'write'] },
  { name: 'viewer', sha256: sha256('t-view'), providers: ['*'], verbs: ['read'] },
];

function statusOf(authorization: string | undefined, provider: string, verb: 'read' | 'write') {
  try {
    return authorize(list, authorization, { provider, verb }).name;
  } catch (error) {
    if (error instanceof HttpProblem) return error.status;
    throw error;
  }
}

describe('authorize', () => {
  it.each([
    ['no token', undefined, 'biz-1', 'read', 401],
    ['another scheme', 'Basic t-op', 'biz-1', 'read', 401],
    ['an unknown token', 'Bearer nope', 'biz-1', 'read', 401],
    ['a provider without grant', 'Bearer t-op', 'biz-2', 'read', 403],
    ['a verb without grant', 'Bearer t-view', 'biz-1', 'write', 403],
    ['a granted provider and verb', 'Bearer t-op', 'biz-1', 'write', 'operator'],
    ['any provider under "*"', 'bearer t-view', 'biz-9', 'read', 'viewer'],
  ] as const)('authorize result for %s', (_what, authorization, provider, verb, outcome) => {
    expect(statusOf(authorization, provider, verb)).toBe(outcome);
  });
});
