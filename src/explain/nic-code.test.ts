import { expect, it } from 'vitest';
import { ofNic } from './nic-code.ts';

const message = 'the name multinic0 is in use by the link with MAC 52:54:00:00:00:01';

it('ofNic explains a taken name in Korean by code', () => {
  const args = 'name=multinic0 mac=52:54:00:00:00:01';
  expect(ofNic('NICInUse', { message, code: 'NameTaken', args })).toEqual({
    en: message,
    ko: 'MAC 52:54:00:00:00:01인 링크가 이름 multinic0을 사용 중입니다',
  });
});

it.each([
  ['an earlier agent', {}],
  ['a value that args leave out', { code: 'NameTaken', args: 'name=multinic0' }],
  ['a code of a later agent', { code: 'toString', args: '' }],
])('ofNic writes the meaning for %s', (_, coded) => {
  expect(ofNic('NICInUse', { message, ...coded }).ko).toContain(`(${message})`);
});
