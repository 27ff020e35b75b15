import { expect, it } from 'vitest';
import { amount, filled, filledIfKnown } from './text.ts';

const entry = {
  en: '{node} has {nics}{suffix}',
  ko: '노드 {node}의 NIC {nics}개{suffix}',
} as const;

it('filled writes values in both languages', () => {
  const suffix = { en: ' now', ko: ' 현재' };
  expect(filled(entry, { node: 'w1', nics: amount(1, 'NIC'), suffix })).toEqual({
    en: 'w1 has 1 NIC now',
    ko: '노드 w1의 NIC 1개 현재',
  });
});

it('filled does not fill placeholders inside values', () => {
  const values = { node: '{nics}', nics: '2', suffix: '' };
  expect(filled(entry, values).en).toBe('{nics} has 2');
});

it('filledIfKnown returns undefined when a value is missing', () => {
  expect(filledIfKnown(entry, { node: 'w1', nics: '2' })).toBeUndefined();
  expect(filledIfKnown(entry, { node: 'w1', nics: '2', suffix: '' })?.en).toBe('w1 has 2');
});
