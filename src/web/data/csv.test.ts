import { expect, it } from 'vitest';
import { csvOf } from './csv.ts';

it.each([
  ['plain', 'plain'],
  ['a,b "c"\nd', '"a,b ""c""\nd"'],
  ['=HYPERLINK("http://x")', '"\'=HYPERLINK(""http://x"")"'],
  ['@x', "'@x"],
])('the value %j becomes the cell %s', (value, cell) => {
  expect(csvOf(['name'], [[value]])).toBe(`name\r\n${cell}\r\n`);
});
