import { expect, it } from 'vitest';
import { filled } from './text.ts';

it.each([
  ['worker-1', 'worker-1을', 'worker-1이', 'worker-1로'],
  ['worker-2', 'worker-2를', 'worker-2가', 'worker-2로'],
  ['0.1.0', '0.1.0을', '0.1.0이', '0.1.0으로'],
  ['multinic3', 'multinic3을', 'multinic3이', 'multinic3으로'],
  [
    '서버 worker-7(biz-5)',
    '서버 worker-7(biz-5)를',
    '서버 worker-7(biz-5)가',
    '서버 worker-7(biz-5)로',
  ],
  ['노드', '노드를', '노드가', '노드로'],
  ['서브넷', '서브넷을', '서브넷이', '서브넷으로'],
  // The reading of Latin letters is unknown: the text's own form stays.
  ['eth0/data', 'eth0/data를', 'eth0/data가', 'eth0/data로'],
])('particles behind "%s" follow its last sound', (value, object, subject, direction) => {
  const texts = ['{value}를', '{value}가 있음', '{value}로.'].map((ko) =>
    filled({ en: '{value}', ko } as { readonly en: '{value}'; readonly ko: '{value}' }, { value }),
  );
  expect(texts.map(({ ko }) => ko)).toEqual([object, `${subject} 있음`, `${direction}.`]);
});

it('words that begin like a particle stay unchanged', () => {
  const { ko } = filled({ en: '{n}', ko: '{n}이며 {n}이(가) {n}가지' }, { n: 1 });
  expect(ko).toBe('1이며 1이(가) 1가지');
});
