import { describe, expect, test } from 'vitest';
import { readRule } from './kernel.ts';

function parse(rule: object) {
  return readRule(JSON.stringify(rule), 4);
}

const ours = { priority: 10_100, src: '10.0.0.11', table: '100', protocol: '4' };

describe('readRule', () => {
  test.each([
    ['with a host source', {}, { from: '10.0.0.11/32', table: 100, protocol: 4, opaque: false }],
    ['with a subnet source', { srclen: 24 }, { from: '10.0.0.11/24' }],
    ['for all sources', { src: 'all' }, { from: 'all' }],
    ['without a protocol', { protocol: '0' }, { protocol: 0 }],
  ])('readRule parses a rule %s', (_, more, expected) => {
    expect(parse({ ...ours, ...more })).toMatchObject(expected);
  });

  test.each([
    ['a mark', { fwmark: '0x3' }],
    ['an incoming link', { iif: 'eth0' }],
    ['a destination', { dst: '10.9.0.0', dstlen: 16 }],
    ['a negation', { not: null }],
  ])('a rule with %s is opaque', (_, more) => {
    expect(parse({ ...ours, ...more })).toMatchObject({ opaque: true });
  });

  test('readRule gives an IPv6 host source prefix length 128', () => {
    const six = { ...ours, src: 'fd00::11' };
    expect(readRule(JSON.stringify(six), 6)).toMatchObject({ family: 6, from: 'fd00::11/128' });
  });
});
