import { expect, it } from 'vitest';
import { longLong, shortText, ValueReader } from './values.ts';

it('ValueReader returns values in order and throws RangeError beyond the end', () => {
  const values = new ValueReader(Buffer.concat([shortText('größe'), longLong(2n ** 64n - 1n)]));
  expect([values.shortText(), values.longLong()]).toEqual(['größe', 2n ** 64n - 1n]);
  expect(() => values.short()).toThrow(RangeError);
  expect(() => new ValueReader(Buffer.from('\u0009cut')).shortText()).toThrow(RangeError);
});
