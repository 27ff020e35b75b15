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
  ])('reads %s', (text, expected) => {
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
  ])('refuses "%s"', (text) => {
    expect(parseTime(text)).toBeUndefined();
  });
});

describe('isAfterBaseline', () => {
  const baseline = '2026-01-02T03:04:05Z';

  it('takes a port made in the same second', () => {
    expect(isAfterBaseline('2026-01-02T03:04:05Z', baseline)).toBe(true);
  });

  it('leaves out an older port and one whose age is unknown', () => {
    expect(isAfterBaseline('2026-01-02T03:04:04Z', baseline)).toBe(false);
    expect(isAfterBaseline(undefined, baseline)).toBe(false);
    expect(isAfterBaseline('once', baseline)).toBe(false);
  });

  it('takes every port when there is no baseline', () => {
    expect(isAfterBaseline(undefined, undefined)).toBe(true);
  });
});
