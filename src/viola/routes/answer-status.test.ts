import { describe, expect, it } from 'vitest';
import type { NodeErrorCode } from '../../api/node-configs-http.ts';
import { answerStatus } from './answer-status.ts';

function answer(accepted: number, ...codes: NodeErrorCode[]) {
  const result = { nodeName: 'n', status: 'created' as const, uid: 'u', generation: 1 };
  return {
    applied: accepted,
    results: Array.from({ length: accepted }, () => result),
    errors: codes.map((code) => ({ nodeName: 'n', code, field: '', message: '' })),
  };
}

describe('answerStatus', () => {
  it.each([
    ['all accepted', answer(2), false, 200],
    ['one refused, caller reads results', answer(1, 'StaleBase'), true, 200],
    ['one refused, caller reads status only', answer(1, 'StaleBase'), false, 409],
    ['none accepted, caller reads results', answer(0, 'Invalid'), true, 422],
    [
      'a transient failure wins',
      answer(0, 'Invalid', 'StaleBase', 'ClusterUnreachable'),
      false,
      503,
    ],
    ['a moved object wins over a bad entry', answer(0, 'Invalid', 'Fenced'), true, 409],
    ['only bad entries', answer(3, 'Invalid'), false, 422],
  ])('answerStatus returns the expected status: %s', (_what, body, readsResults, status) => {
    expect(answerStatus(body, readsResults)).toBe(status);
  });
});
