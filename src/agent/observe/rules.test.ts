import { describe, expect, test } from 'vitest';
import { readRule } from './kernel.ts';

function parse(rule: object) {
  return readRule(JSON.stringify(rule), 4);
}

const ours = { priority: 10_100, src: '10.0.0.11', table: '100', protocol: '4' };

describe('rules', () => {
  test.each([
    ['of one address', {}, { from: '10.0.0.11/32', table: 100, protocol: 4, opaque: false }],
    ['of a subnet', { srclen: 24 }, { from: '10.0.0.11/24' }],
    ['of all', { src: 'all' }, { from: 'all' }],
    ['without a protocol', { protocol: '0' }, { protocol: 0 }],
  ])('%s', (_, more, expected) => {
    expect(parse({ ...ours, ...more })).toMatchObject(expected);
  });

  test.each([
    ['a mark', { fwmark: '0x3' }],
    ['an incoming link', { iif: 'eth0' }],
    ['a destination', { dst: '10.9.0.0', dstlen: 16 }],
    ['a negation', { not: null }],
  ])('a rule with %s selects more', (_, more) => {
    expect(parse({ ...ours, ...more })).toMatchObject({ opaque: true });
  });

  test('of IPv6 are of single addresses of another length', () => {
    const six = { ...ours, src: 'fd00::11' };
    expect(readRule(JSON.stringify(six), 6)).toMatchObject({ family: 6, from: 'fd00::11/128' });
  });
});
