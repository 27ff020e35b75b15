import { expect, it } from 'vitest';
import { argsOf, argsText } from './args.ts';

it('argsOf reads pairs and ignores words without a key', () => {
  expect(argsOf('link=ens8 to=10.0.0.0/8 x')).toEqual({ link: 'ens8', to: '10.0.0.0/8' });
  expect(argsOf(undefined)).toEqual({});
});

it('argsOf reads the values that argsText wrote', () => {
  const values = { link: 'ens8', address: '10.7.0.1/24' };
  expect(argsOf(argsText(values))).toEqual(values);
});
