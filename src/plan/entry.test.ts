import { describe, expect, it } from 'vitest';
import { isAfterBaseline, parseTime } from './entry.ts';

describe('parseTime', () => {
  it.each([
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05.25Z', '2026-01-02T03:04:05.250Z'],
    ['2026-01-02T12:04:05+09:00', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05.123456', '2026-01-02T03:04:05.123Z'],
    ['  2026-01-02T03:04:05Z ', '2026-01-02T03:04:05.000Z'],
  ])('parseTime parses %s', (text, expected) => {
    expect(new Date(parseTime(text) ?? Number.NaN).toISOString()).toBe(expected);
  });

  it.each([
    '2026-01-02T03:04:05+0900',
    '2026-01-02 03:04:05Z',
    '2026-01-02T03:04Z',
    '2026-01-02t03:04:05z',
    '2026-13-02T03:04:05Z',
    'yesterday',
    '',
  ])('parseTime rejects "%s"', (text) => {
    expect(parseTime(text)).toBeUndefined();
  });
});

describe('isAfterBaseline', () => {
  const baseline = '2026-01-02T03:04:05Z';

  it('isAfterBaseline is true for a port created in the same second', () => {
    expect(isAfterBaseline('2026-01-02T03:04:05Z', baseline)).toBe(true);
  });

  it('isAfterBaseline is false for an older port and for an unknown creation time', () => {
    expect(isAfterBaseline('2026-01-02T03:04:04Z', baseline)).toBe(false);
    expect(isAfterBaseline(undefined, baseline)).toBe(false);
    expect(isAfterBaseline('once', baseline)).toBe(false);
  });

  it('isAfterBaseline is true for any port without a baseline', () => {
    expect(isAfterBaseline(undefined, undefined)).toBe(true);
  });
});
