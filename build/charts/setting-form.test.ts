import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  address,
  boolean,
  duration,
  integer,
  integerOrPercent,
  nonBlank,
  oneOf,
  url,
} from '../../src/process/setting-schemas.ts';
import { type TypedSetting, typed } from './setting-form.ts';

function formOf(schema: z.ZodType<unknown, string | undefined>): TypedSetting {
  return typed({ env: [], flag: 'flag', description: '', schema });
}

const list = () => nonBlank().transform((all) => all.split(','));

describe('setting forms', () => {
  it.each<[string, TypedSetting, z.ZodType<unknown, string | undefined>]>([
    ['text', { form: { kind: 'text' }, fallback: undefined }, nonBlank().optional()],
    ['text with a default', { form: { kind: 'text' }, fallback: 'a' }, nonBlank().default('a')],
    [
      'a text of some form',
      { form: { kind: 'text', pattern: '^[a-z]+$' }, fallback: undefined },
      z
        .string()
        .regex(/^[a-z]+$/)
        .optional(),
    ],
    ['a required text', { form: { kind: 'text' }, fallback: undefined }, nonBlank()],
    [
      'a number',
      { form: { kind: 'integer', min: 1, max: 9 }, fallback: 3 },
      z.string().default('3').pipe(integer(1, 9)),
    ],
    [
      'a number or a percentage',
      { form: { kind: 'integerOrPercent', min: 1, max: 9 }, fallback: 3 },
      z.string().default('3').pipe(integerOrPercent(1, 9)),
    ],
    ['yes or no', { form: { kind: 'boolean' }, fallback: false }, boolean().prefault('false')],
    ['a duration', { form: { kind: 'duration' }, fallback: '5s' }, duration().prefault('5s')],
    ['a URL', { form: { kind: 'url' }, fallback: undefined }, url().optional()],
    ['an address', { form: { kind: 'address' }, fallback: ':80' }, address().prefault(':80')],
    ['a list', { form: { kind: 'list' }, fallback: ['a', 'b'] }, list().prefault('a,b')],
    ['a list of nothing', { form: { kind: 'list' }, fallback: undefined }, list().optional()],
    [
      'one of some words',
      { form: { kind: 'choice', words: ['a', 'b'] }, fallback: 'b' },
      oneOf(['a', 'b']).prefault('b'),
    ],
    [
      'one of some words, by a pipe',
      { form: { kind: 'choice', words: ['a', 'b'] }, fallback: 'a' },
      nonBlank()
        .default('a')
        .pipe(z.enum(['a', 'b'])),
    ],
  ])('settingForm knows type and default of %s', (_about, expected, schema) => {
    expect(formOf(schema)).toEqual(expected);
  });
});
