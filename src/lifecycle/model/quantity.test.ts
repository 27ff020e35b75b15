import { expect, it } from 'vitest';
import { parseQuantity } from './quantity.ts';

// Expected values as in Kubernetes: `resource.MustParse(text).String()`.
it.each([
  ['1000m', '1'],
  ['200m', '200m'],
  ['0.5', '500m'],
  ['1500m', '1500m'],
  ['12000', '12k'],
  ['1024', '1024'],
  ['1024Ki', '1Mi'],
  ['20Gi', '20Gi'],
  ['2048Mi', '2Gi'],
  ['1.5Gi', '1536Mi'],
  ['0.5Ki', '512'],
  ['0.1Gi', '107374182400m'],
  ['1e3', '1e3'],
  ['1E3', '1e3'],
  ['100e1', '1e3'],
  ['1E', '1E'],
  ['+5', '5'],
  ['-1Gi', '-1Gi'],
  ['.5', '500m'],
  ['5.', '5'],
  ['0', '0'],
  ['0Gi', '0'],
  ['1n', '1n'],
  ['0.1n', '1n'],
])('parseQuantity reads %s as %s', (text, written) => {
  expect(parseQuantity(text)?.text).toBe(written);
});

it.each(['', 'lots', '10 Gi', '10GB', '10gi', '1e', '--1', '.', 'Gi', '1Ki5', '10K', '1e999'])(
  'parseQuantity returns undefined for "%s"',
  (text) => {
    expect(parseQuantity(text)).toBeUndefined();
  },
);

it('parseQuantity makes quantities with different units comparable', () => {
  const sizes = ['1Gi', '1G', '1e9', '1048577Ki'].map((text) => parseQuantity(text)?.nano ?? 0n);
  const [gibi = 0n, giga = 0n, exponent = 0n, more = 0n] = sizes;
  expect([gibi > giga, giga === exponent, more > gibi]).toEqual([true, true, true]);
});
